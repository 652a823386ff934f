"""Checks that the records which a job's request names are stored, and that there are records of its days. A typing
error is refused so when a person posts a job or a schedule, not a moment later."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period, last_ended_day
from hydrology.base.errors import InvalidInput, NotFound
from jobspec.jobs.base import JobRequest
from jobspec.jobs.data import BridgeJob
from jobspec.kinds import BRINGING, FETCHING, RECORDS, Parameter, Record, named
from records.basins import basins
from records.feeds import feeds
from records.series.year_rows import SERIES, calendar_years
from records.versions import versions
from records.weather import bridges, weather_issues

MAX_FAULTS = 20
_EASTERNMOST = "Etc/GMT-14"  # where a day ends first


class Fault(NamedTuple):
    """A parameter that cannot be used, by its path within the params, and why."""

    field: str
    reason: str


def faults(session: Session, request: JobRequest, now: datetime) -> list[Fault]:
    """Return the first parameters that name something that is not there; `now` is the service's time."""
    if request.kind in BRINGING:
        return []
    parameters = list(named(request.params))
    days = [parameter for parameter in parameters if parameter.is_of_days]
    years = None if request.kind in FETCHING or not days else _stored_years(session)
    found = chain(_unknown(session, parameters), _unfitted_bridge(session, request), _faulty_days(days, years, now))
    return list(islice(found, MAX_FAULTS))


def require(session: Session, request: JobRequest, now: datetime) -> None:
    """Check that all that a request names is there; InvalidInput names each parameter that is not."""
    if found := faults(session, request, now):
        raise InvalidInput(" ".join(f"{fault.field}: {fault.reason}" for fault in found))


def _unknown(session: Session, parameters: Sequence[Parameter]) -> Iterator[Fault]:
    records = [(parameter, RECORDS[parameter.name]) for parameter in parameters if parameter.name in RECORDS]
    known_basins = set(basins.known(session, [named.value for named, record in records if record == "basin"]))
    for parameter, record in records:
        if record == "basin" and parameter.value in known_basins:
            continue
        try:
            _LOOK_UP[record](session, parameter.value)
        except NotFound as problem:
            yield Fault(parameter.field, str(problem))


def _unfitted_bridge(session: Session, request: JobRequest) -> Iterator[Fault]:
    if isinstance(request, BridgeJob) and request.params.fit is None:
        try:
            bridges.get(session, request.params.name)
        except NotFound as problem:
            yield Fault("name", str(problem))


def _faulty_days(days: Sequence[Parameter], years: Period | None, now: datetime) -> Iterator[Fault]:
    """Yield days that have not ended anywhere, or are outside `years`: whole years with records."""
    last_ended = last_ended_day(now, _EASTERNMOST)
    for field, _, value in days:
        period = value if isinstance(value, Period) else Period(value, value)
        if period.first > last_ended:
            when = f"{now:%Y-%m-%d %H:%M} UTC, the time of the clock"
            yield Fault(field, f"{period.first} has not ended at {when}: choose {last_ended} or an earlier day.")
        elif years is not None and years.overlap(period) is None:
            yield Fault(field, f"No data of {value} are stored: choose days of {years}.")


def _stored_years(session: Session) -> Period | None:
    first, last = session.execute(select(func.min(SERIES.c.year), func.max(SERIES.c.year))).one()
    return None if first is None else calendar_years(first, last)


def _product(session: Session, product: str) -> None:
    stored = list(session.scalars(select(SERIES.c.product).distinct().order_by(SERIES.c.product)))
    if product not in stored:
        raise NotFound(f"No data of {product} are stored here: choose a product of {', '.join(stored) or 'none yet'}.")


def _weather_model(session: Session, weather: str) -> None:
    source, slash, model = weather.partition("/")
    if slash and not weather_issues.is_stored(session, source, model):
        raise NotFound(f"No weather forecast of {weather} is stored here: list them to see their models.")


_LOOK_UP: Mapping[Record, Callable[[Session, Any], object]] = {
    "basin": basins.require,
    "version": versions.owner_of,
    "feed": feeds.get,
    "weather": weather_issues.get,
    "weather model": _weather_model,
    "product": _product,
}
"""By kind of record, what raises `NotFound` where it is not stored."""
