"""Weather forecasts as issued: stored once, never changed, read as known at an instant."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Row,
    Select,
    UniqueConstraint,
    exists,
    func,
    select,
)
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, day
from hydrology.base.digests import sha256
from hydrology.base.doc import Doc
from hydrology.base.errors import NotFound
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import (
    AvailableTime,
    Credit,
    Licence,
    Provider,
    ReferenceTime,
    WeatherForecast,
    WeatherIssue,
    WeatherModel,
)
from records.basins import basins as basin_records
from records.database import retention
from records.database.checksums import new_id, verified
from records.database.stored import add_all, as_record, as_values, grouped, insert_into, narrowed, stored, table_of
from records.database.stored import read as read_records
from records.series.year_rows import VALUE


class UnknownWeather(NotFound):
    """No weather forecast with this id is stored, or it does not contain the basin."""


@stored("weather_issues", UniqueConstraint("source", "model", "reference_time", "operational"))
class Issue:
    """A weather forecast in a list."""

    id: Annotated[str, Doc("Its identifier.", ("01a1f9952f438adb871a00",))]
    source: Provider
    model: WeatherModel
    reference_time: ReferenceTime
    operational: Annotated[
        bool,
        Doc(
            "Whether forecasts use it by default: it came from a feed, an admin or the command line. One that was sent "
            "with an operator's key is used only by forecasts that name it."
        ),
    ]
    licence: Licence
    credit: Credit
    created_at: Annotated[datetime, Doc("When its first basin was stored, by the machine's clock.")]


@stored(
    "weather_basins",
    # float32, little-endian, row-major over variables, traces and days
    Column("content", LargeBinary, nullable=False),
    CheckConstraint("last >= first", name="days"),
    Index(None, "basin_id", "first"),
    key=("issue_id", "basin_id"),
)
class BasinPart:
    """Contents of a weather forecast for a basin."""

    issue_id: Annotated[str, ForeignKey("weather_issues.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    available_time: AvailableTime
    first: Day
    last: Day
    traces: tuple[str, ...]
    variables: tuple[str, ...]
    sha256: str

    @property
    def trace_count(self) -> Annotated[int, Doc("Number of traces.")]:
        return len(self.traces)


ISSUES, PARTS = table_of(Issue), table_of(BasinPart)


def get(session: Session, issue: str) -> Issue:
    unknown = UnknownWeather(f"No weather forecast {issue!r} is stored here: list them to see their ids.")
    return retention.get(session, Issue, "weather", issue, unknown)


def is_stored(session: Session, source: str, model: str) -> bool:
    return bool(session.scalar(select(exists().where(ISSUES.c.source == source, ISSUES.c.model == model))))


def list_issues(
    session: Session,
    at: datetime,
    *,
    basin: str | None = None,
    source: str | None = None,
    model: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Issue]:
    """Return the weather forecasts known at an instant, last stored first. `after` is the last id of the previous
    page."""
    of_issue = PARTS.c.issue_id == ISSUES.c.id
    known = exists().where(of_issue, PARTS.c.available_time <= at)
    if basin is not None:
        known = known.where(PARTS.c.basin_id == basin)
    query = narrowed(
        select(ISSUES).where(known),  # checked issue by issue: a page reads only its own
        (ISSUES.c.source.__eq__, source),
        (ISSUES.c.model.__eq__, model),
        (ISSUES.c.id.__lt__, after),
    )
    return read_records(session, Issue, query.order_by(ISSUES.c.id.desc()).limit(limit))


def parts_of(session: Session, issue: str, at: datetime) -> list[BasinPart]:
    get(session, issue)
    columns = (PARTS.c[name] for name in BasinPart.__dataclass_fields__)
    of_issue = select(*columns).where(PARTS.c.issue_id == issue, PARTS.c.available_time <= at)
    return read_records(session, BasinPart, of_issue.order_by(PARTS.c.basin_id))


def read(session: Session, issue: str, basin: str, at: datetime) -> WeatherForecast:
    found = read_many(session, issue, [basin], at)
    if basin not in found:
        raise UnknownWeather(f"Weather forecast {issue} does not contain {basin}: list the forecast's basins.")
    return found[basin]


def read_many(session: Session, issue: str, basins: Sequence[str], at: datetime) -> dict[str, WeatherForecast]:
    issued = get(session, issue)
    of_basins = PARTS.c.issue_id == issue, PARTS.c.basin_id.in_(basins), PARTS.c.available_time <= at
    rows = session.execute(select(PARTS).where(*of_basins))
    return {row.basin_id: _forecast(issued, row) for row in rows}


def newest(
    session: Session, basins: Sequence[str], at: datetime, days: Period, *, whole: bool = True
) -> dict[str, str]:
    """Return, by basin, the newest weather forecast that covers some days.

    The newest has the latest reference time and, of several, was stored last. Forecasts sent with an operator's key are
    left out.

    Args:
        whole: whether it must cover all days; else the one is returned that covers them from the first to the latest
            day, if it held as many days when it was issued.
    """
    newest_first = (ISSUES.c.reference_time.desc(), ISSUES.c.id.desc())
    order = newest_first if whole else (PARTS.c.last.desc(), *newest_first)
    last = days.last if whole else days.first
    rank = func.row_number().over(partition_by=PARTS.c.basin_id, order_by=order).label("rank")
    ranked: Select[Any] = (
        select(PARTS.c.basin_id, ISSUES.c.id, ISSUES.c.reference_time, PARTS.c.last, rank)
        .join(ISSUES, ISSUES.c.id == PARTS.c.issue_id)
        .where(PARTS.c.basin_id.in_(basins), ISSUES.c.operational.is_(True))
        .where(PARTS.c.available_time <= at)
        .where(PARTS.c.first <= days.first, PARTS.c.last >= last)
    )
    found = ranked.subquery()
    rows = session.execute(select(found).where(found.c.rank == 1))
    held = {row.basin_id: (row.id, Period(day(row.reference_time.date()), row.last)) for row in rows}
    return {basin: issue for basin, (issue, period) in held.items() if whole or len(period) >= len(days)}


def since(
    session: Session, source: str, model: str, basins: Sequence[str], *, days: Period, before: datetime
) -> list[tuple[str, Day]]:
    """Return the forecasts of a model that feeds brought, with their reference days, the oldest first.

    They contain one of the basins, hold one of the days, and have a reference time before an instant. Of several with
    the same reference day the last stored is returned.
    """
    query = (
        select(ISSUES.c.id, ISSUES.c.reference_time)
        .join(PARTS, ISSUES.c.id == PARTS.c.issue_id)
        .where(PARTS.c.basin_id.in_(basins), ISSUES.c.operational.is_(True))
        .where(ISSUES.c.source == source, ISSUES.c.model == model)
        .where(PARTS.c.first <= days.last, PARTS.c.last >= days.first)
        .where(ISSUES.c.reference_time < before)
        .distinct()
        .order_by(ISSUES.c.reference_time, ISSUES.c.id)
    )
    by_day = {day(row.reference_time.date()): row.id for row in session.execute(query)}
    return [(issue, reference) for reference, issue in by_day.items()]


def stored_basins(session: Session, source: str, model: str, since: datetime) -> dict[datetime, set[str]]:
    """Return the basins of a model's forecasts that feeds brought, by reference time, from an instant on."""
    query = (
        select(ISSUES.c.reference_time, PARTS.c.basin_id)
        .join(PARTS, ISSUES.c.id == PARTS.c.issue_id)
        .where(ISSUES.c.source == source, ISSUES.c.model == model)
        .where(ISSUES.c.operational.is_(True), ISSUES.c.reference_time >= since)
    )
    return {reference_time: set(basins) for reference_time, basins in grouped(session.execute(query)).items()}


def is_whole(row: Any) -> bool:
    return bool(row.sha256 == sha256(content_to_hash(row)))


def outdated(session: Session, before: datetime, issues: Collection[str] | None = None) -> dict[str, int]:
    query = select(ISSUES.c.id).where(ISSUES.c.created_at < before).order_by(ISSUES.c.id)
    return dict.fromkeys(session.scalars(narrowed(query, (ISSUES.c.id.in_, issues))), 1)


def remove(session: Session, issues: Collection[str]) -> list[str]:
    session.execute(PARTS.delete().where(PARTS.c.issue_id.in_(issues)))
    return list(session.scalars(ISSUES.delete().where(ISSUES.c.id.in_(issues)).returning(ISSUES.c.id)))


def _forecast(issue: Issue, row: Row[Any]) -> WeatherForecast:
    verified(content_to_hash(row), row.sha256, f"weather forecast {issue.id} of {row.basin_id}")
    shape = (len(row.variables), len(row.traces), len(Period(row.first, row.last)))
    values = np.frombuffer(row.content, VALUE).reshape(shape)
    return WeatherForecast(
        issue=as_record(WeatherIssue, issue, available_time=row.available_time),
        basin=row.basin_id,
        traces=row.traces,
        first=row.first,
        values=dict(zip(row.variables, values, strict=True)),
        units={name: WEATHER[name].unit for name in row.variables},
    )


def content_to_hash(row: Any) -> bytes:
    """Return the content of a basin's part (columns as attributes) in the form that is hashed."""
    return f"{row.first} {','.join(row.traces)} {','.join(row.variables)} ".encode() + bytes(row.content)


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """The result of storing a weather forecast.

    Attributes:
        known: basins already stored with the same content.
        refused: why other basins were not stored.
        warnings: oddities of the weather, by basin.
    """

    issue_id: str
    new: tuple[str, ...]
    known: tuple[str, ...]
    refused: Mapping[str, str]
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def store(session: Session, forecasts: Sequence[WeatherForecast], at: datetime, *, operational: bool) -> StoredIssue:
    """Store a source's forecasts for some basins. Already stored ones stay as they are.

    Args:
        forecasts: one or more, of one source, model and reference time, each for another basin; otherwise ValueError.
        at: the machine's time.
        operational: see `weather_issues.Issue`.
    """
    issue = forecasts[0].issue
    issues = {(each.issue.source, each.issue.model, each.issue.reference_time) for each in forecasts}
    if len(issues) > 1 or len({each.basin for each in forecasts}) < len(forecasts):
        raise ValueError("forecasts stored together must be of one issue, with each basin once")
    issue_id = _store_issue(session, issue, at, operational)
    by_basin = {forecast.basin: forecast for forecast in forecasts}
    refused = {basin: str(error) for basin, error in basin_records.unknown(session, list(by_basin)).items()}
    rows = {basin: _row(issue_id, forecast) for basin, forecast in by_basin.items() if basin not in refused}
    insert = insert_into(session, PARTS).on_conflict_do_nothing().returning(PARTS.c.basin_id)
    new = {*session.scalars(insert, [*rows.values()])} if rows else set()
    before = [basin for basin in rows if basin not in new]
    for basin, digest in _hashes(session, issue_id, before).items() if before else ():
        if digest != rows[basin]["sha256"]:
            refused[basin] = (
                f"{basin}: another weather forecast of {issue.source} {issue.model} of "
                f"{issue.reference_time:%Y-%m-%dT%H:%MZ} is stored, and stored ones never change: give this one its "
                "own reference time or model."
            )
    stored = [basin for basin in rows if basin not in refused]
    return StoredIssue(
        issue_id=issue_id,
        new=tuple(basin for basin in stored if basin in new),
        known=tuple(basin for basin in stored if basin not in new),
        refused=refused,
    )


def _store_issue(session: Session, issue: WeatherIssue, at: datetime, operational: bool) -> str:
    identity = as_values(issue, "available_time", "licence", "credit") | {"operational": operational}
    stored = select(ISSUES.c.id).filter_by(**identity)
    if (found := session.scalar(stored)) is not None:
        return str(found)
    row = as_values(issue, "available_time") | identity | {"id": new_id(at), "created_at": at}
    add_all(session, Issue, [row], if_new=True)
    return str(session.scalars(stored).one())  # another may have been faster


def _row(issue_id: str, forecast: WeatherForecast) -> dict[str, Any]:
    variables = sorted(forecast.values)
    content = np.stack([forecast.values[name] for name in variables]).astype(VALUE).tobytes()
    columns = {
        "issue_id": issue_id,
        "basin_id": forecast.basin,
        "available_time": forecast.issue.available_time,
        "first": forecast.first,
        "last": forecast.period.last,
        "traces": list(forecast.traces),
        "variables": variables,
        "content": content,
    }
    return columns | {"sha256": sha256(content_to_hash(SimpleNamespace(**columns)))}


def _hashes(session: Session, issue_id: str, basins: Sequence[str]) -> dict[str, str]:
    query = select(PARTS.c.basin_id, PARTS.c.sha256).where(PARTS.c.issue_id == issue_id)
    return dict(session.execute(query.where(PARTS.c.basin_id.in_(basins))).all())
