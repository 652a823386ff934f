"""What is normal on some days, from the records to the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app import schema
from app.basins.schemas import kind_of
from app.columns import gappy_column
from app.discharge import Units, area_between, refused
from app.forecasts.schemas import Area
from app.normals.schemas import DayNormals, Normals
from app.observations.service import DISCHARGE, LONGEST_DAYS, USUAL_DAYS, credit_of, nothing_kept
from hydrology import units as convert
from hydrology.basins import gauge_product
from hydrology.calendar import Day, Days, Period, day
from hydrology.flow_climatology import NEAR_DAYS
from hydrology.normals import LEAST_YEARS, normals, too_few_years
from hydrology.series import DailySeries
from records import promotions, series, versions

_FIRST, _LAST = day("0001-01-01"), day("9999-12-31")
_USUAL = np.timedelta64(USUAL_DAYS - 1, "D")


@dataclass(frozen=True, slots=True)
class NormalsRequest:
    """What is asked; None is the usual.

    Attributes:
        variable: one, or all.
        product: of the weather.
        start, end: the first and last day.
        units: of discharge.
        area: the name of the area that depths are taken over.
    """

    variable: str | None
    product: str | None
    start: Day | None
    end: Day | None
    units: Units | None
    area: str | None


@dataclass(frozen=True, slots=True)
class _Record:
    """A daily series over all its days, in the unit to tell it in, and the product that it is of."""

    source: str
    daily: DailySeries


def normals_of(session: Session, basin: str, request: NormalsRequest, now: datetime) -> Normals:
    """Return the answer.

    Raises:
        UnknownBasin: there is no such basin.
        NoObservations: nothing of the product is kept, or no such variable; the sentence names what is.
        UnknownArea: the basin has no area of that name.
        InvalidRequest: the period is too long or turned round, or the unit or the area does not fit.
    """
    period, catalogue = _period(request, now), series.catalogue(session, basin)
    product, why_no_product = _weather_product(session, basin, request.product, catalogue)
    sources = _sources(basin, product, request.variable, catalogue)
    area = _area(session, basin, request, DISCHARGE in sources)
    variables: dict[str, DayNormals | None] = {}
    missing = {} if area else {"area": "No value was converted with an area."}
    if product is None:
        missing["product"] = why_no_product
    for name, source in sources.items():
        record = _observed(session, basin, source, name, request.units, area)
        if record is None:
            variables[name], missing[f"variables.{name}"] = None, f"No {name} of {source} is kept for {basin}."
        else:
            variables[name] = told = _told(record, period.days)
            if lacking := told.mean.count(None):
                missing[f"variables.{name}"] = too_few_years(lacking, len(period))
    return Normals(
        basin=basin,
        basin_kind=kind_of(basin),
        product=product,
        credits={source: credit for source in set(sources.values()) if (credit := credit_of(session, source))},
        area=None if area is None else Area(name=area.name, km2=area.m2 / convert.M2_PER_KM2),
        near_days=NEAR_DAYS,
        least_years=LEAST_YEARS,
        time=period.days.tolist(),
        variables=variables,
        missing=missing,
    )


def _period(request: NormalsRequest, now: datetime) -> Period:
    if request.start is None:
        last = day(now.date()) if request.end is None else request.end
        return Period(max(last - _USUAL, _FIRST), last)
    period = Period(request.start, min(request.start + _USUAL, _LAST) if request.end is None else request.end)
    if period.last < period.first:
        raise refused("end", "the period ends before it begins: swap start and end.")
    if len(period) > LONGEST_DAYS:
        detail = f"{period} are {len(period)} days, and one answer holds at most {LONGEST_DAYS}: ask for a part."
        raise refused("end", detail)
    return period


def _weather_product(
    session: Session, basin: str, asked: str | None, catalogue: Sequence[series.Entry]
) -> tuple[str | None, str]:
    """Return the product whose weather is told, that of the current version unless one is named, and why none is."""
    products = {entry.product for entry in catalogue}
    if asked is not None:
        if asked not in products:
            raise nothing_kept(f"No series of {asked}", basin, catalogue)
        return asked, ""
    version = promotions.current(session, [basin]).get(basin)
    if version is None:
        return None, f"No model version is current for {basin}, whose weather would be told: name a product."
    product = versions.get(session, version).product
    return (product if product in products else None), f"No series of {product} is kept for {basin}."


def _sources(
    basin: str, product: str | None, variable: str | None, catalogue: Sequence[series.Entry]
) -> Mapping[str, str]:
    """Return the product of each variable that is told."""
    sources = {DISCHARGE: gauge_product(basin)}
    sources |= {entry.variable: entry.product for entry in catalogue if entry.product == product}
    if variable is None:
        return sources
    if variable not in sources:
        raise nothing_kept(f"No {variable}", basin, catalogue)
    return {variable: sources[variable]}


def _area(session: Session, basin: str, request: NormalsRequest, of_discharge: bool) -> convert.Area | None:
    unit = series.unit_of(session, basin, gauge_product(basin), DISCHARGE) if of_discharge else None
    if request.units is not None and not of_discharge:
        raise refused("units", "only discharge can be told in other units, and none is asked for: leave it out.")
    return area_between(session, basin, [] if unit is None else [unit], request.units, request.area)


def _observed(
    session: Session, basin: str, product: str, variable: str, units: Units | None, area: convert.Area | None
) -> _Record | None:
    daily = series.read(session, basin, product, variable)
    if daily is None or variable != DISCHARGE or units is None:
        return None if daily is None else _Record(product, daily)
    flow = convert.converted(daily.values, unit=daily.unit, into=units, area=area)
    return _Record(product, DailySeries(daily.start, flow, daily.flags, units))


def _told(record: _Record, days: Days) -> DayNormals:
    of_days = normals(record.daily.values, record.daily.period, days)
    p10, p25, median, p75, p90 = (gappy_column(quantile) for quantile in of_days.quantiles)
    return DayNormals(
        kind="observed",
        source=record.source,
        units=record.daily.unit,
        record=schema.Period.between(record.daily.period.first, record.daily.period.last),
        mean=gappy_column(of_days.mean),
        p10=p10,
        p25=p25,
        median=median,
        p75=p75,
        p90=p90,
        years=of_days.years.tolist(),
    )
