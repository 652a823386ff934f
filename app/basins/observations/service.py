"""Builds the answer about observed daily series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.basins.observations.schemas import Extent, Observations
from app.basins.schemas import kind_of
from app.basins.series_requests import MAX_DAYS, USUAL_DAYS, SeriesRequest
from app.http.base_schema import Area, DataCredit
from app.http.conditional import entity_tag
from app.http.discharge_units import area_between
from app.http.json_numbers import gappy_column
from app.http.problems import refused
from hydrology.base import units as convert
from hydrology.base.calendar import Period, as_date
from hydrology.base.errors import counted
from hydrology.base.series import DailySeries, Flag
from hydrology.base.units import Units, observed_unit
from records.feeds import product_credits
from records.series import revisions, series
from records.series.series import NoObservations

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
    units: Units | None
    area: convert.Area | None
    known_at: datetime | None


def part(session: Session, basin: str, request: SeriesRequest) -> ObservationQuery:
    """Resolve a request, filling in its defaults.

    Raises:
        UnknownBasin: there is no such basin.
        NoObservations: nothing of it is stored; the message lists the stored series.
        UnknownArea: the basin has no area of that name.
        InvalidRequest: the period is too long or reversed, or the unit does not fit.
    """
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
        basin, entries, _period(basin, request, entries), observed_unit(request.units), area, request.known_at
    )


def no_observations(sought: str, basin: str, catalogue: Sequence[series.Entry]) -> NoObservations:
    """Return the error for a series that is not stored, listing the stored ones."""
    choices = "; ".join(f"{entry.product}: {entry.variable} {entry.period}" for entry in catalogue) or "nothing yet"
    return NoObservations(f"{sought} is stored for {basin}: choose a stored series ({choices}).")


def _known(session: Session, basin: str, entries: Sequence[series.Entry], at: datetime) -> list[series.Entry]:
    """Return the entries as they stood at an instant.

    Raises:
        NoObservations: nothing of them was known.
    """
    then = [(entry, revisions.as_known_at(session, basin, entry.product, entry.variable, at)) for entry in entries]
    known = [replace(entry, period=daily.period) for entry, daily in then if daily is not None]
    if not known:
        sentence = f"Nothing of {entries[0].product} was known for {basin} at {at:%Y-%m-%dT%H:%M:%SZ}"
        raise NoObservations(f"{sentence}: choose a later instant.")
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
    credit = product_credits.by_product(session, [product]).get(product)
    return None if credit is None else DataCredit(credit=credit.credit, licence=credit.licence)


def answer(session: Session, part: ObservationQuery) -> Observations:
    """Return the observations of a basin."""
    period, area = part.period, part.area
    by_variable = {entry.variable: _in_units(session, part, entry) for entry in part.entries}
    lacking = {name: int(np.isnan(daily.values).sum()) for name, daily in by_variable.items()}
    missing = {
        f"values.{name}": f"{days} of {counted(len(period), 'day has', 'days have')} no value: their flags give the "
        "reason."
        for name, days in lacking.items()
        if days
    }
    credit = credit_of(session, part.entries[0].product)
    if credit is None:
        missing["credit"] = "No feed brought any of it."
    if area is None:
        missing["area"] = "No value was converted with an area."
    if part.known_at is None:
        missing["known_at"] = "The answer is as known now."
    return Observations(
        basin=part.basin,
        basin_kind=kind_of(session, part.basin),
        product=part.entries[0].product,
        credit=credit,
        units={name: daily.unit for name, daily in by_variable.items()},
        area=None if area is None else Area.of(area),
        known_at=part.known_at,
        kept={
            entry.variable: Extent(first_day=as_date(entry.period.first), last_day=as_date(entry.period.last))
            for entry in part.entries
        },
        time=period.days.tolist(),
        values={name: gappy_column(daily.values) for name, daily in by_variable.items()},
        flags={name: daily.flags.tolist() for name, daily in by_variable.items()},
        flag_legend={str(int(flag)): words for flag, words in LEGEND.items()},
        missing=missing,
    )


def _in_units(session: Session, part: ObservationQuery, entry: series.Entry) -> DailySeries:
    """Return a series over the period, in the unit of the answer."""
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
    return area_between(session, basin, units, observed_unit(request.units), request.area)


def _period(basin: str, request: SeriesRequest, entries: Sequence[series.Entry]) -> Period:
    span = Period(min(entry.period.first for entry in entries), max(entry.period.last for entry in entries))
    last = span.last if request.end is None else request.end
    usual = max(span.first, last - np.timedelta64(USUAL_DAYS - 1, "D"))
    first = usual if request.start is None else request.start
    if request.start is not None and request.end is not None and last < first:
        raise refused("end", "the period ends before it begins: swap start and end.")
    period = Period(first, last)
    if first > last or span.overlap(period) is None:
        raise NoObservations(
            f"Nothing of {request.product} is stored for {basin} in those days: choose days within {span}."
        )
    if len(period) > MAX_DAYS:
        raise refused(
            "start" if request.end is None else "end",
            f"{period} are {len(period)} days, and one answer holds at most {MAX_DAYS}: ask for a part at a time.",
        )
    return period
