"""Requests for daily series: their query parameters and defaults."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query

from app.http.dependencies import KnownAt
from app.http.discharge_units import AreaName
from hydrology.base.units import STANDARD, ObservedUnits
from jobspec.fields import NAMED, DayField

MAX_DAYS = 3_660
USUAL_DAYS = 365

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
    str | None,
    Query(description="One variable; by default all of the product.", pattern=NAMED, examples=["discharge"]),
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
    """Parameters of a request for series; None takes the default.

    Attributes:
        variable: one, or all of the product.
        start, end: first and last day.
        units: of discharge; m3/s unless another is named.
        area: name of the drainage area used for depths.
        known_at: the answer is as known at this instant.
    """

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
    """Parameters of a request for normals; None takes the default.

    Attributes:
        variable: one, or all.
        product: of the weather.
        start, end: first and last day.
        units: of discharge; m3/s unless another is named.
        area: name of the drainage area used for depths.
    """

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
