"""/v1/basins/{basin}/observations: observed daily series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.queries import MAX_DAYS, USUAL_DAYS, SeriesRequest
from app.basins.schemas import NO_FEED, AreaUsed, BasinKind, kind_of
from app.exports.answers import SeriesAnswer, body_of, documented_responses
from app.exports.formats import SERIES
from app.exports.table import NOWHERE, RIVER_FLOW, Column, Table, basin_columns, constant
from app.http.base_schema import EXPLAINED, DataCredit, Missing, Model, column
from app.http.dependencies import BasinId, Reading, area_between
from app.http.entity_tags import entity_tag
from app.http.limits.costs import RequestBudget
from app.http.problems import refused
from hydrology.base import units as convert
from hydrology.base.calendar import Period, as_date
from hydrology.base.doc import Why
from hydrology.base.errors import counted
from hydrology.base.series import DailySeries, Flag
from records.basins.basins import Site, UnknownArea, UnknownBasin
from records.feeds import feeds
from records.series import revisions, series

router = APIRouter(prefix="/basins", tags=["observations"])


class Extent(Model):
    """The first and the last stored day of a series."""

    first_day: date
    last_day: date


class Observations(Model):
    """Daily series of a product in a basin, a column each."""

    basin: str
    basin_kind: BasinKind
    product: str = Field(description="The source of the series.")
    credit: Annotated[DataCredit | None, NO_FEED] = Field(
        description="Provider of the product; null where no feed brought any of it."
    )
    units: dict[str, str] = Field(description="The unit of each variable's values.")
    area: AreaUsed
    known_at: Annotated[datetime | None, Why("The answer is as known now.")] = Field(
        description="The answer is as known at this instant; null: as known now."
    )
    kept: dict[str, Extent] = Field(
        description="First and last stored day of each variable at that time; the answer is a part of it."
    )
    time: list[date] = Field(description="Every day of the requested period.")
    values: dict[str, list[float | None]] = Field(
        description=column("By variable, null where there is no value, which `flags` explain")
    )
    flags: dict[str, list[int]] = Field(
        description=column("By variable, the sum of the bits in `flag_legend` that hold")
    )
    flag_legend: dict[str, str] = Field(description="The meaning of each bit of a flag.")
    missing: Missing = EXPLAINED


DISCHARGE = "discharge"
LEGEND: Mapping[Flag, str] = {
    Flag.APPROVED: "approved: the source has approved the value; a gauge's value without it is provisional",
    Flag.ESTIMATED: "estimated: the source has estimated the value",
    Flag.BELOW_LIMIT: "below limit: the value is the limit below which the source cannot measure",
    Flag.MISSING: "missing: the source names the day and has no value for it",
    Flag.ABSENT: "absent: no source mentions the day",
    Flag.FILLED: "filled: a missing value was filled in",
    Flag.SUSPECT: "suspect: the value is doubtful; with missing, it was negative or not readable, and is not taken",
    Flag.ICE: "ice: the river was frozen; a value is an estimate",
}


@dataclass(frozen=True, slots=True)
class ObservationQuery:
    """A resolved request: its series, their days, and the area for conversions."""

    basin: str
    entries: Sequence[series.Entry]
    period: Period
    units: convert.Units | None
    area: convert.Area | None
    known_at: datetime | None


def observation_query(session: Session, basin: str, request: SeriesRequest) -> ObservationQuery:
    """Resolve a request, filling in its defaults."""
    catalogue = series.catalogue(session, basin)
    entries = [
        entry for entry in catalogue if entry.product == request.product and request.variable in (None, entry.variable)
    ]
    if not entries:
        sought = "No series" if request.variable is None else f"No {request.variable}"
        raise no_observations(f"{sought} of {request.product}", basin, catalogue)
    if request.known_at is not None:
        entries = _known(session, basin, entries, request.known_at)
    area = _area(session, basin, request, entries)
    return ObservationQuery(
        basin, entries, _period(basin, request, entries), convert.observed_unit(request.units), area, request.known_at
    )


def no_observations(sought: str, basin: str, catalogue: Sequence[series.Entry]) -> series.NoObservations:
    """Return the error for a series that is not stored, listing the stored ones."""
    choices = "; ".join(f"{entry.product}: {entry.variable} {entry.period}" for entry in catalogue) or "nothing yet"
    return series.NoObservations(f"{sought} is stored for {basin}: choose a stored series ({choices}).")


def _known(session: Session, basin: str, entries: Sequence[series.Entry], at: datetime) -> list[series.Entry]:
    """Return the entries as they stood at an instant."""
    then = [(entry, revisions.as_known_at(session, basin, entry.product, entry.variable, at)) for entry in entries]
    known = [replace(entry, period=daily.period) for entry, daily in then if daily is not None]
    if not known:
        sentence = f"Nothing of {entries[0].product} was known for {basin} at {at:%Y-%m-%dT%H:%M:%SZ}"
        raise series.NoObservations(f"{sentence}: choose a later instant.")
    return known


def tag_of(session: Session, part: ObservationQuery) -> str:
    """Return the entity tag, from the product's stamp, which grows with every write."""
    area = part.area and (part.area.name, part.area.m2)
    product = part.entries[0].product
    stamp = series.stamp(session, part.basin, product)
    names = [entry.variable for entry in part.entries]
    credit = credit_of(session, part.entries[0].product)
    content = (part.basin, product, stamp, names, str(part.period), part.units, area, credit and credit.model_dump())
    return entity_tag(*content, str(part.known_at))


def credit_of(session: Session, product: str) -> DataCredit | None:
    """Return the credit of a product; None where no feed brought any of it."""
    credit = feeds.credits_of(session, [product]).get(product)
    return None if credit is None else DataCredit(credit=credit.credit, licence=credit.licence)


def observations_of(session: Session, part: ObservationQuery) -> Observations:
    period = part.period
    by_variable = {entry.variable: _in_units(session, part, entry) for entry in part.entries}
    lacking = {name: int(np.isnan(daily.values).sum()) for name, daily in by_variable.items()}
    missing = {
        f"values.{name}": f"{days} of {counted(len(period), 'day has', 'days have')} no value: their flags give the "
        "reason."
        for name, days in lacking.items()
        if days
    }
    return Observations.from_records(
        part,
        basin_kind=kind_of(session, part.basin),
        product=part.entries[0].product,
        credit=credit_of(session, part.entries[0].product),
        units={name: daily.unit for name, daily in by_variable.items()},
        kept={
            entry.variable: Extent(first_day=as_date(entry.period.first), last_day=as_date(entry.period.last))
            for entry in part.entries
        },
        time=period.days.tolist(),
        values={name: daily.values for name, daily in by_variable.items()},
        flags={name: daily.flags for name, daily in by_variable.items()},
        flag_legend={str(int(flag)): words for flag, words in LEGEND.items()},
        missing=missing,
    )


def _in_units(session: Session, part: ObservationQuery, entry: series.Entry) -> DailySeries:
    key = (session, part.basin, entry.product, entry.variable)
    stored = (
        series.read(*key, part.period)
        if part.known_at is None
        else revisions.as_known_at(*key, part.known_at, part.period)
    )
    if stored is None:
        length = len(part.period)
        nothing, absent = np.full(length, np.nan, np.float32), np.full(length, Flag.ABSENT, np.uint8)
        stored = DailySeries(part.period.first, nothing, absent, entry.unit)
    units = part.units
    if entry.variable != DISCHARGE or units is None or units == stored.unit:
        return stored
    flow = convert.converted(stored.values, unit=stored.unit, into=units, area=part.area)
    return DailySeries(stored.start, flow, stored.flags, units)


def _area(session: Session, basin: str, request: SeriesRequest, entries: Sequence[series.Entry]) -> convert.Area | None:
    units = [entry.unit for entry in entries if entry.variable == DISCHARGE]
    if request.units is not None and not units:
        raise refused("units", "only discharge can be converted, and none is requested: leave it out.")
    return area_between(session, basin, units, convert.observed_unit(request.units), request.area)


def _period(basin: str, request: SeriesRequest, entries: Sequence[series.Entry]) -> Period:
    span = Period(min(entry.period.first for entry in entries), max(entry.period.last for entry in entries))
    last = span.last if request.end is None else request.end
    usual = max(span.first, last - np.timedelta64(USUAL_DAYS - 1, "D"))
    first = usual if request.start is None else request.start
    if request.start is not None and request.end is not None and last < first:
        raise refused("end", "the period ends before it begins: swap start and end.")
    period = Period(first, last)
    if first > last or span.overlap(period) is None:
        raise series.NoObservations(
            f"Nothing of {request.product} is stored for {basin} in those days: choose days within {span}."
        )
    if len(period) > MAX_DAYS:
        raise refused(
            "start" if request.end is None else "end",
            f"{period} are {len(period)} days, and one answer holds at most {MAX_DAYS}: ask for a part at a time.",
        )
    return period


_STANDARDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("discharge", "m3/s"): (RIVER_FLOW, "time: mean"),
    ("discharge", "cfs"): (RIVER_FLOW, "time: mean"),
    ("precipitation", "mm/day"): ("lwe_precipitation_rate", "time: mean"),
    ("tmax", "degC"): ("air_temperature", "time: maximum"),
    ("tmin", "degC"): ("air_temperature", "time: minimum"),
    ("tmean", "degC"): ("air_temperature", "time: mean"),
    ("vp", "Pa"): ("water_vapor_partial_pressure_in_air", "time: mean"),
    ("swe", "mm"): ("lwe_thickness_of_surface_snow_amount", "time: mean"),
}
"""CF's standard name and cell methods of a variable in the unit that fits both."""
_LONG_NAMES = {"srad": "downwelling shortwave radiation, mean over daylight"}
"""Of variables for which CF has no standard name: a mean over a day would be half of that over daylight."""


def table_of(answer: Observations, sites: Mapping[str, Site]) -> Table:
    rows, credit = len(answer.time), answer.credit
    columns = [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        constant("product", "source of the series", "text", answer.product, rows),
        constant("credit", "provider of the product", "text", credit and credit.credit, rows),
        constant("licence", "licence of the product", "text", credit and credit.licence, rows),
        constant("known_at", "the values are as known at this instant", "instant", answer.known_at, rows),
        Column("time", "day", "day", answer.time),
    ]
    legend = {int(bit): words for bit, words in answer.flag_legend.items()}
    for variable, values in answer.values.items():
        columns += variable_columns(variable, values, answer.flags[variable], answer.units[variable], legend)
    name = f"{answer.basin}_{answer.product}_{answer.time[0]}_{answer.time[-1]}"
    return Table(name, f"{answer.product} in {answer.basin}", columns)


def variable_columns(
    variable: str, values: list[float | None], flags: list[int], unit: str, legend: Mapping[int, str]
) -> list[Column]:
    name, methods = _STANDARDS.get((variable, unit), (None, None))
    words = _LONG_NAMES.get(variable, variable)
    return [
        Column(variable, words, "number", values, unit, standard_name=name, cell_methods=methods),
        Column(f"{variable}_flags", f"flags of {variable}", "integer", flags, flags=legend),
    ]


@router.get(
    "/{basin}/observations",
    summary="Observed discharge, weather and snow of a basin",
    description="The daily series of a product, every day of the period: a day without a value is null, and its flags "
    f"give the reason. One answer holds at most {MAX_DAYS} days; a longer period is refused. With "
    "`known_at` revised values appear as they were at that instant, and later data are absent.",
    **documented_responses(Observations, UnknownBasin, series.NoObservations, UnknownArea, formats=SERIES),
)
def read_observations(
    session: Reading,
    basin: BasinId,
    request: Annotated[SeriesRequest, Depends()],
    answer: SeriesAnswer,
    budget: RequestBudget,
) -> Response:
    query, places = observation_query(session, basin, request), answer.places([basin])
    budget.spend(len(query.entries) * len(query.period), "variable", "ask for one variable, or for fewer days.")
    return answer.tagged(
        tag_of(session, query),
        lambda: body_of(observations_of(session, query)),
        lambda: table_of(observations_of(session, query), places),
        places=places,
    )
