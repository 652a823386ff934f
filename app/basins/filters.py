"""Query parameters that select basins by location."""

import math
from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from jobspec.forms import form
from records.basins.basins import Box

Huc = Annotated[
    str | None,
    Query(
        description="The beginning of the hydrologic unit code.",
        pattern=form("^[0-9]{1,12}$", "1 to 12 digits, such as 0101"),
        examples=["01"],
    ),
]


def _box(text: str | None) -> str | None:
    """Refuse text that is not a box."""
    if text is not None:
        corners(text)
    return text


def corners(text: str) -> Box:
    """Parse a box into west, south, east and north, degrees."""
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        west = south = east = north = math.nan
    if not (abs(west) <= 180 and abs(east) <= 180 and -90 <= south <= north <= 90):
        raise PydanticCustomError(
            "box",
            "not a box: give minlon,minlat,maxlon,maxlat in degrees, longitudes from -180 to 180, latitudes from "
            "-90 to 90 and the lower one first; where the box crosses the 180th meridian, minlon is the greater one",
        )
    return west, south, east, north


BoundingBox = Annotated[
    str | None,
    AfterValidator(_box),
    Query(
        description="Only gauges within `minlon,minlat,maxlon,maxlat`, degrees. Where minlon is greater than maxlon, "
        "the box crosses the 180th meridian. A basin without a known location is in no box.",
        examples=["-70,44,-66,48"],
        max_length=200,
    ),
]
