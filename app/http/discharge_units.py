"""The requested unit of discharge, and the area used to convert it."""

from collections.abc import Collection
from typing import Annotated

from fastapi import Query
from sqlalchemy.orm import Session

from app.http.problems import refused
from hydrology.base import units as convert
from hydrology.base.errors import InvalidInput
from jobspec.fields import NAMED
from records.basins import basins
from records.versions.promotions import areas_in_use

AreaName = Annotated[
    str | None,
    Query(
        description="The name of the drainage area used for depths (`/v1/basins/{basin}` lists them). By default the "
        "one that the basin's flow is converted with, its `area`.",
        pattern=NAMED,
        examples=["area_gages2"],
    ),
]


class NoArea(InvalidInput):
    """The run names no drainage area, so its depths cannot be given as flows."""

    kind = "no-area"


def area_between(
    session: Session, basin: str, units: Collection[str], into: str | None, area: str | None, version: str | None = None
) -> convert.Area | None:
    """Return the area to convert discharge with; None if none is needed.

    Args:
        units: stored units of the basin's discharge.
        into: requested unit; None for the stored one.
        area: by default the one that converts the basin's flow (`areas_in_use`).
        version: that computed the discharge; by default the basin's current one.
    """
    apart = [unit for unit in units if into not in (None, unit) and "mm/day" in (into, unit)]
    if not apart and area is not None:
        raise refused("area", "nothing is converted with an area here: leave it out, or ask for units=mm/day.")
    if not apart:
        return None
    if area is not None:
        return convert.Area(area, basins.area_of(session, basin, area))
    stored = basins.get(session, basin)
    used = areas_in_use(session, [stored], version)[basin]
    if used is None:
        names = ", ".join(sorted(stored.areas)) or "the basin has none"
        raise refused(
            "area", f"between {apart[0]} and {into} an area is needed: name one ({names}), or ask for {apart[0]}."
        )
    return used
