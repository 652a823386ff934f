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

AreaName = Annotated[
    str | None,
    Query(
        description="The name of the drainage area used for depths (`/v1/basins/{basin}` lists them): "
        "needed to convert between flows and `mm/day` if the basin has several.",
        pattern=NAMED,
        examples=["area_gages2"],
    ),
]


class NoArea(InvalidInput):
    """The run names no drainage area, so its depths cannot be given as flows."""

    kind = "no-area"


def area_between(
    session: Session, basin: str, units: Collection[str], into: str | None, area: str | None
) -> convert.Area | None:
    """Return the area to convert discharge with; None if none is needed.

    Args:
        units: stored units of the basin's discharge.
        into: requested unit; None for the stored one.
        area: name of the area; optional if the basin has only one.

    Raises:
        UnknownArea: the basin has none of that name.
        InvalidRequest: one is needed and none is named, or one is named and none is needed.
    """
    apart = [unit for unit in units if into not in (None, unit) and "mm/day" in (into, unit)]
    if not apart and area is not None:
        raise refused("area", "nothing is converted with an area here: leave it out, or ask for units=mm/day.")
    if not apart:
        return None
    if area is None:
        areas = basins.get(session, basin).areas
        if len(areas) != 1:
            names = ", ".join(sorted(areas)) or "the basin has none"
            raise refused(
                "area", f"between {apart[0]} and {into} an area is needed: name one ({names}), or ask for {apart[0]}."
            )
        (area,) = areas
    return convert.Area(area, basins.area_of(session, basin, area))
