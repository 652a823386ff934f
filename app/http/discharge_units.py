"""The unit that discharge is asked for in, and the area that depths are taken over."""

from collections.abc import Collection
from typing import Annotated

from fastapi import Query
from sqlalchemy.orm import Session

from app.http.problems import Fault, InvalidRequest
from hydrology.base.units import Area
from jobspec.fields import NAME
from records.basins import basins

AreaName = Annotated[
    str | None,
    Query(
        description="The name of the drainage area that depths are taken over (`/v1/basins/{basin}` lists them): "
        "needed between flows and `mm/day` where the basin has several, for sources differ.",
        pattern=f"^{NAME}$",
        examples=["area_gages2"],
    ),
]


def area_between(
    session: Session, basin: str, units: Collection[str], into: str | None, area: str | None
) -> Area | None:
    """Return the area that discharge is converted with; None where it needs none.

    Args:
        units: those that the basin's discharge is in.
        into: that which it is asked for in; None for as it is.
        area: the name of the area; a basin with one area alone needs none.

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
    return Area(area, basins.area_of(session, basin, area))


def refused(field: str, detail: str) -> InvalidRequest:
    """Return the error of a query parameter that cannot be used."""
    return InvalidRequest([Fault(location="query", field=field, detail=detail)])
