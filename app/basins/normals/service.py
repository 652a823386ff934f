"""Builds the answer about normals."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.basins.normals.record import Record, observed, simulated
from app.basins.normals.schemas import DayNormals, Normals
from app.basins.observations.service import DISCHARGE, credit_of, no_observations
from app.basins.schemas import kind_of
from app.basins.series_requests import MAX_DAYS, USUAL_DAYS, NormalsRequest
from app.http.base_schema import Area, Period
from app.http.discharge_units import area_between
from app.http.json_numbers import gappy_column
from app.http.limits.costs import Budget
from app.http.problems import refused
from hydrology.base import calendar
from hydrology.base import units as convert
from hydrology.base.absent import Absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Days, day
from hydrology.base.units import observed_unit
from hydrology.climatology.flow_climatology import NEAR_DAYS
from hydrology.climatology.normals import MIN_YEARS, normals, too_few_years
from records.series import series
from records.simulations.simulated_storage import WATER
from records.versions import promotions, versions

_FIRST, _LAST = day("0001-01-01"), day("9999-12-31")
_USUAL = np.timedelta64(USUAL_DAYS - 1, "D")

VALUES_A_DAY = 7
"""Of a variable: its mean, five quantiles and the number of years."""


def normals_of(
    session: Session, basin: str, request: NormalsRequest, now: datetime, budget: Budget | None = None
) -> Normals:
    """Return the normals of a basin.

    Args:
        budget: what is charged for them; None: nothing.

    Raises:
        UnknownBasin: there is no such basin.
        NoObservations: nothing of the product or the variable is stored; the message lists the stored series.
        UnknownArea: the basin has no area of that name.
        InvalidRequest: the period is too long or reversed, or the unit or the area does not fit.
    """
    period, catalogue = _period(request, now), series.catalogue(session, basin)
    version = promotions.current(session, [basin]).get(basin)
    product, why_no_product = _weather_product(session, basin, request.product, version, catalogue)
    sources = _sources(basin, product, request.variable, catalogue)
    area = _area(session, basin, request, DISCHARGE in sources)
    simulations = [name for name in WATER if request.variable in (None, name)]
    if budget is not None:
        values = len(period) * VALUES_A_DAY * (len(sources) + len(simulations))
        budget.spend(values, "variable", "ask for one variable, or for fewer days.")
    records: dict[str, Record | Absent] = {
        name: observed(session, basin, source, name, observed_unit(request.units), area)
        for name, source in sources.items()
    }
    records |= {name: simulated(session, basin, version, name) for name in simulations}
    shown = {
        name: None if isinstance(record, Absent) else _answer(record, period.days) for name, record in records.items()
    }
    missing = _missing(records, shown)
    if area is None:
        missing["area"] = "No value was converted with an area."
    if product is None:
        missing["product"] = why_no_product
    return Normals(
        basin=basin,
        basin_kind=kind_of(session, basin),
        product=product,
        credits={source: credit for source in set(sources.values()) if (credit := credit_of(session, source))},
        area=None if area is None else Area.of(area),
        near_days=NEAR_DAYS,
        least_years=MIN_YEARS,
        time=period.days.tolist(),
        variables=shown,
        missing=missing,
    )


def _period(request: NormalsRequest, now: datetime) -> calendar.Period:
    if request.start is None:
        last = day(now.date()) if request.end is None else request.end
        return calendar.Period(max(last - _USUAL, _FIRST), last)
    period = calendar.Period(request.start, min(request.start + _USUAL, _LAST) if request.end is None else request.end)
    if period.last < period.first:
        raise refused("end", "the period ends before it begins: swap start and end.")
    if len(period) > MAX_DAYS:
        detail = f"{period} are {len(period)} days, and one answer holds at most {MAX_DAYS}: ask for a part."
        raise refused("end", detail)
    return period


def _weather_product(
    session: Session, basin: str, asked: str | None, version: str | None, catalogue: Sequence[series.Entry]
) -> tuple[str | None, str]:
    """Return the weather product (by default the current version's), and why there is none."""
    products = {entry.product for entry in catalogue}
    if asked is not None:
        if asked not in products:
            raise no_observations(f"No series of {asked}", basin, catalogue)
        return asked, ""
    if version is None:
        return None, f"{basin} has no current model version to take the weather product from: name a product."
    product = versions.get(session, version).products[0]
    return (product if product in products else None), f"No series of {product} is stored for {basin}."


def _sources(
    basin: str, product: str | None, variable: str | None, catalogue: Sequence[series.Entry]
) -> Mapping[str, str]:
    """Return the product of each observed variable in the answer."""
    sources = {DISCHARGE: gauge_product(basin)}
    sources |= {entry.variable: entry.product for entry in catalogue if entry.product == product}
    if variable is None:
        return sources
    if variable not in (*sources, *WATER):
        raise no_observations(f"No {variable}", basin, catalogue)
    return {name: source for name, source in sources.items() if name == variable}


def _area(session: Session, basin: str, request: NormalsRequest, of_discharge: bool) -> convert.Area | None:
    unit = series.unit_of(session, basin, gauge_product(basin), DISCHARGE) if of_discharge else None
    if request.units is not None and not of_discharge:
        raise refused("units", "only discharge can be converted, and none is requested: leave it out.")
    return area_between(session, basin, [] if unit is None else [unit], observed_unit(request.units), request.area)


def _answer(record: Record, days: Days) -> DayNormals:
    of_days = normals(record.values, record.period, days)
    p10, p25, median, p75, p90 = (gappy_column(quantile) for quantile in of_days.quantiles)
    return DayNormals(
        kind=record.kind,
        source=record.source,
        units=record.unit,
        record=Period.between(record.period.first, record.period.last),
        mean=gappy_column(of_days.mean),
        p10=p10,
        p25=p25,
        median=median,
        p75=p75,
        p90=p90,
        years=of_days.years.tolist(),
    )


def _missing(records: Mapping[str, Record | Absent], shown: Mapping[str, DayNormals | None]) -> dict[str, str]:
    """Return why variables, or days of them, are null."""
    missing = {}
    for name, record in records.items():
        normal = shown[name]
        if isinstance(record, Absent):
            missing[f"variables.{name}"] = str(record)
        elif normal is not None and (lacking := normal.mean.count(None)):
            missing[f"variables.{name}"] = str(too_few_years(lacking, len(normal.mean)))
    return missing
