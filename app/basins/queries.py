"""Query parameters of basins: their location, and the days and units of series."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from app.http.dependencies import AreaName, KnownAt, Reading, optional_full_id
from hydrology.base.units import STANDARD, ObservedUnits
from jobspec.fields import BASIN_SCHEMA, NAMED, DayField, Printable, form
from records.basins import regions
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


def _known_region(
    session: Reading,
    region: Annotated[
        str | None,
        Query(
            description="Only basins of this region: `/v1/regions` lists them.", pattern=NAMED, examples=["columbia"]
        ),
    ] = None,
) -> str | None:
    if region is not None:
        regions.get(session, region)
    return region


# The name of a stored region.
InRegion = Annotated[str | None, Depends(_known_region)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Parameters that choose basins by their location; None takes all."""

    huc: Huc = None
    bbox: BoundingBox = None
    region: InRegion = None

    @property
    def filters(self) -> dict[str, Any]:
        """The arguments of `records.basins.basins.chosen`."""
        return {"huc": self.huc, "box": None if self.bbox is None else corners(self.bbox), "region": self.region}


InPlace = Annotated[Place, Depends()]
MAX_DAYS = 3_660
USUAL_DAYS = 365

Text = Annotated[
    Annotated[str, Printable] | None,
    Query(
        description="Part of the identifier or the name; upper and lower case match.",
        min_length=1,
        max_length=100,
        pattern=form(r"^[^\x00-\x1f]*$", "text without control characters, such as Boise"),
        examples=["fish river"],
    ),
]
BasinCursor = Annotated[
    str | None,
    AfterValidator(optional_full_id),
    Query(
        description="Start after this basin: the last one of the page before.",
        json_schema_extra=BASIN_SCHEMA,
        examples=["USGS-01013500"],
    ),
]
Product = Annotated[
    str,
    Query(
        description="The source of the series: a weather product (`maurer_extended`, `daymet`, `nldas`), `usgs` for "
        "gauged discharge, `uaz` or `snodas` for snow. `/v1/basins/{basin}` lists the stored ones.",
        pattern=NAMED,
        examples=["usgs"],
    ),
]
WeatherProduct = Annotated[
    str | None,
    Query(
        description="The weather product; by default that of the current model version.",
        pattern=NAMED,
        examples=["daymet"],
    ),
]
Variable = Annotated[
    str | None, Query(description="One variable; by default all of the product.", pattern=NAMED, examples=["discharge"])
]
DischargeUnits = Annotated[
    ObservedUnits | None,
    Query(
        description=f"The unit of discharge, by default `{STANDARD}`; `source`: the stored unit (`cfs` of USGS gauges)."
    ),
]


def _first_day(description: str) -> Any:
    return Query(description=f"The first day; by default {description}.", examples=["2008-04-01"])


def _last_day(description: str) -> Any:
    return Query(description=f"The last day (included){description}.", examples=["2008-07-31"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRequest:
    """Parameters of a request for series; None takes the default."""

    product: Product
    variable: Variable = None
    start: Annotated[DayField | None, _first_day(f"{USUAL_DAYS} days before the last, or where the series begin")] = (
        None
    )
    end: Annotated[DayField | None, _last_day("; by default the last stored one")] = None
    units: DischargeUnits = None
    area: AreaName = None
    known_at: KnownAt = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalsRequest:
    """Parameters of a request for normals; None takes the default."""

    variable: Variable = None
    product: WeatherProduct = None
    start: Annotated[DayField | None, _first_day(f"{USUAL_DAYS} days before the last")] = None
    end: Annotated[
        DayField | None,
        _last_day(
            f", past or ahead. By default {USUAL_DAYS} days after the first day, or if that is not given either, the "
            "day of the service's clock"
        ),
    ] = None
    units: DischargeUnits = None
    area: AreaName = None
