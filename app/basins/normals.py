"""/v1/basins/{basin}/normals: the usual values for a day of the year, from other years."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Depends, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.observations import DISCHARGE, credit_of, no_observations
from app.basins.queries import MAX_DAYS, USUAL_DAYS, NormalsRequest
from app.basins.schemas import AreaUsed, BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import EXPLAINED, DataCredit, Missing, Model, Period, column
from app.http.dependencies import BasinId, Reading, ServiceClock, area_between
from app.http.limits.costs import Budget, RequestBudget
from app.http.problems import refused
from hydrology.base import calendar
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.reasons import Reason
from hydrology.base.units import Units, observed_unit
from hydrology.climatology.normals import MIN_YEARS, NEAR_DAYS, normals, too_few_years
from records.basins.basins import UnknownArea, UnknownBasin
from records.series import series
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import WATER, WaterVariable
from records.versions import promotions, versions

router = APIRouter(prefix="/basins", tags=["observations"])

GappyColumn = list[float | None]


class DayNormals(Model):
    """Normals of one variable for each day; null on a day with too few years."""

    kind: Literal["observed", "simulated"] = Field(
        description="`observed`: from a product's series. `simulated`: by the current model version, driven by "
        "observed weather, mean of its members."
    )
    source: str = Field(description="The product or the model version.")
    units: str
    record: Period = Field(description="The first and the last known day.")
    mean: GappyColumn = Field(description=column("Mean over the other years, the normal"))
    p10: GappyColumn = Field(description=column("10 % quantile of the other years"))
    p25: GappyColumn = Field(description=column("25 % quantile of the other years"))
    median: GappyColumn = Field(description=column("Median of the other years"))
    p75: GappyColumn = Field(description=column("75 % quantile of the other years"))
    p90: GappyColumn = Field(description=column("90 % quantile of the other years"))
    years: list[int] = Field(description=column("Number of other years"))


class Normals(Model):
    """Normals for the requested days, by variable."""

    basin: str
    basin_kind: BasinKind
    product: str | None = Field(description="The weather product.")
    credits: dict[str, DataCredit] = Field(description="Providers of the products that came through feeds.")
    area: AreaUsed
    near_days: int = Field(description="Half width of the window: days before and after the same day of other years.")
    least_years: int = Field(description="Minimum number of other years for a normal.")
    time: list[date] = Field(description="Every day of the requested period.")
    variables: dict[str, DayNormals | None] = Field(
        description="By variable: `discharge` of the gauge, the series of the weather product, all water in the basin "
        "(`storage`) and the part read as snow (`snow`)."
    )
    missing: Missing = EXPLAINED


@dataclass(frozen=True, slots=True)
class Record:
    """All known days of a variable in the answer's unit, NaN where missing; `source` is a product or a version."""

    kind: Literal["observed", "simulated"]
    source: str
    unit: str
    period: calendar.Period
    values: npt.NDArray[np.floating]


def _observed(
    session: Session, basin: str, product: str, variable: str, units: Units | None, area: convert.Area | None
) -> Record | Absent:
    daily = series.read(session, basin, product, variable)
    if daily is None:
        return absent(Reason.NO_SERIES, variable=variable, product=product, basin=basin)
    if variable != DISCHARGE or units is None:
        return Record("observed", product, daily.unit, daily.period, daily.values)
    flow = convert.converted(daily.values, unit=daily.unit, into=units, area=area)
    return Record("observed", product, units, daily.period, flow)


def _simulated(session: Session, basin: str, version: str | None, variable: WaterVariable) -> Record | Absent:
    if version is None:
        return absent(Reason.NO_CURRENT_VERSION, basin=basin)
    if not versions.get(session, version).conserving:
        return absent(Reason.NOT_CONSERVING)
    if variable == "storage":
        water = simulated_series.storage_of(session, version, basin)
    else:
        cells = snow_cells.mapping(session, version, basin)
        water = simulated_series.snow_of(session, version, basin, cells)
    return water if isinstance(water, Absent) else Record("simulated", version, "mm", water.period, water.values)


_FIRST, _LAST = calendar.day("0001-01-01"), calendar.day("9999-12-31")
_USUAL = np.timedelta64(USUAL_DAYS - 1, "D")

VALUES_A_DAY = 7
"""Of a variable: its mean, five quantiles and the number of years."""


def normals_of(
    session: Session, basin: str, request: NormalsRequest, now: datetime, budget: Budget | None = None
) -> Normals:
    """Return the normals of a basin, charged to the budget if there is one."""
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
        name: _observed(session, basin, source, name, observed_unit(request.units), area)
        for name, source in sources.items()
    }
    records |= {name: _simulated(session, basin, version, name) for name in simulations}
    shown = {
        name: record if isinstance(record, Absent) else _answer(record, period.days) for name, record in records.items()
    }
    lacking = {name: normal.mean.count(None) for name, normal in shown.items() if not isinstance(normal, Absent)}
    return Normals.from_records(
        basin=basin,
        basin_kind=kind_of(session, basin),
        product=product,
        credits={source: credit for source in set(sources.values()) if (credit := credit_of(session, source))},
        area=area,
        near_days=NEAR_DAYS,
        least_years=MIN_YEARS,
        time=period.days.tolist(),
        variables=shown,
        missing={f"variables.{name}": str(too_few_years(days, len(period))) for name, days in lacking.items() if days},
        why={"product": why_no_product},
    )


def _period(request: NormalsRequest, now: datetime) -> calendar.Period:
    if request.start is None:
        last = calendar.day(now.date()) if request.end is None else request.end
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


def _answer(record: Record, days: calendar.Days) -> DayNormals:
    of_days = normals(record.values, record.period, days)
    names = ("p10", "p25", "median", "p75", "p90")
    quantiles: dict[str, Any] = dict(zip(names, of_days.quantiles, strict=True))
    return DayNormals.from_records(record, of_days, units=record.unit, record=record.period, **quantiles)


@router.get(
    "/{basin}/normals",
    summary="Normals for each day: flow, weather, stored water and snow",
    description="Statistics of other years at the same time of the year: the mean (the normal), quantiles, and the "
    "number of years. A year counts if more than half of the days around the same day are known; the year of the day "
    "itself never counts, so no day is compared with itself. On a day with too few other years all are null, and "
    f"`missing` gives the reason. One answer holds at most {MAX_DAYS} days, past or ahead.",
    **documented_responses(Normals, UnknownBasin, series.NoObservations, UnknownArea),
)
def read_normals(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    request: Annotated[NormalsRequest, Depends()],
    answer: JsonAnswer,
    budget: RequestBudget,
) -> Response:
    return answer.of(normals_of(session, basin, request, clock.now(), budget))
