"""Weather forecasts as issued: stored once, never changed, read as known at an instant."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, delete, exists, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.base.digests import sha256
from hydrology.base.errors import NotFound
from hydrology.base.variables import WEATHER
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from records.basins import basins as basin_records
from records.database import retention
from records.database.ids import new_id, verified
from records.database.statements import as_record, insert_into
from records.series.year_rows import VALUE
from records.weather.tables import WeatherBasinRow, WeatherIssueRow


class UnknownWeather(NotFound):
    """No weather forecast with this id is stored, or it does not contain the basin."""

    kind = "unknown-weather"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A stored weather forecast for any basins.

    Attributes:
        source, model, reference_time, licence, credit: as in `hydrology.weather.forcing.WeatherIssue`.
        operational: whether forecasts may use it by default: it came from a feed, an admin or the command line. One
            sent with an operator's key is used only by name, and does not replace a feed's.
        created_at: when its first basin was stored, by the machine's clock.
    """

    id: str
    source: str
    model: str
    reference_time: datetime
    operational: bool
    licence: str | None
    credit: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinPart:
    """The stored part for one basin, without its values.

    Attributes:
        available_time: when it became available.
        first, last: its valid days.
        sha256: checksum of its content.
    """

    issue_id: str
    basin_id: str
    available_time: datetime
    first: Day
    last: Day
    traces: tuple[str, ...]
    variables: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """The result of storing a weather forecast.

    Attributes:
        issue_id: its id, whether it is new or not.
        new: newly stored basins; known: basins already stored with the same content.
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
        forecasts: one or more, of one source, model and reference time, each for another basin.
        at: the machine's time.
        operational: see `Issue`.

    Raises:
        ValueError: they are of different issues, or two are for the same basin.
    """
    issue = forecasts[0].issue
    if len({_identity(forecast.issue) for forecast in forecasts}) > 1 or len(
        {forecast.basin for forecast in forecasts}
    ) < len(forecasts):
        raise ValueError("forecasts stored together must be of one issue, with each basin once")
    issue_id = _store_issue(session, issue, at, operational)
    by_basin = {forecast.basin: forecast for forecast in forecasts}
    refused = {basin: str(error) for basin, error in basin_records.unknown(session, list(by_basin)).items()}
    rows = {basin: _row(issue_id, forecast) for basin, forecast in by_basin.items() if basin not in refused}
    before = _hashes(session, issue_id, rows)
    _insert(session, [row for basin, row in rows.items() if basin not in before])
    for basin, digest in _hashes(session, issue_id, rows).items():
        if digest != rows[basin]["sha256"]:
            refused[basin] = _other_content(basin, issue)
    stored = [basin for basin in rows if basin not in refused]
    return StoredIssue(
        issue_id=issue_id,
        new=tuple(basin for basin in stored if basin not in before),
        known=tuple(basin for basin in stored if basin in before),
        refused=refused,
    )


def get(session: Session, issue: str) -> Issue:
    """Return a stored weather forecast.

    Raises:
        UnknownWeather: there is none with this id.
        Gone: it was pruned.
    """
    row = session.get(WeatherIssueRow, issue)
    if row is None:
        raise retention.pruned_row(session, "weather", issue) or UnknownWeather(
            f"No weather forecast {issue!r} is stored here: list them to see their ids."
        )
    return as_record(Issue, row)


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
    """Return the weather forecasts known at an instant, last stored first.

    Args:
        after: the last id of the previous page.
    """
    of_issue = WeatherBasinRow.issue_id == WeatherIssueRow.id
    known = exists().where(of_issue, WeatherBasinRow.available_time <= at)
    if basin is not None:
        known = known.where(WeatherBasinRow.basin_id == basin)
    query = select(WeatherIssueRow).where(known)  # checked issue by issue: a page reads only its own
    for column, value in ((WeatherIssueRow.source, source), (WeatherIssueRow.model, model)):
        query = query if value is None else query.where(column == value)
    query = query if after is None else query.where(WeatherIssueRow.id < after)
    return [as_record(Issue, row) for row in session.scalars(query.order_by(WeatherIssueRow.id.desc()).limit(limit))]


def parts_of(session: Session, issue: str, at: datetime) -> list[BasinPart]:
    """Return a weather forecast's parts by basin, as far as known at an instant.

    Raises:
        UnknownWeather: there is none with this id.
    """
    get(session, issue)
    columns = [getattr(WeatherBasinRow, name) for name in BasinPart.__dataclass_fields__]
    rows = session.execute(
        select(*columns)
        .where(WeatherBasinRow.issue_id == issue, WeatherBasinRow.available_time <= at)
        .order_by(WeatherBasinRow.basin_id)
    )
    return [
        BasinPart(**row._asdict() | {"traces": tuple(row.traces), "variables": tuple(row.variables)}) for row in rows
    ]


def read(session: Session, issue: str, basin: str, at: datetime) -> WeatherForecast:
    """Return a weather forecast of a basin.

    Raises:
        UnknownWeather: there is none with this id, or it was not known for the basin at the instant.
    """
    found = read_many(session, issue, [basin], at)
    if basin not in found:
        raise UnknownWeather(f"Weather forecast {issue} does not contain {basin}: list the forecast's basins.")
    return found[basin]


def read_many(session: Session, issue: str, basins: Sequence[str], at: datetime) -> dict[str, WeatherForecast]:
    """Return a weather forecast by basin, as known at an instant.

    Raises:
        UnknownWeather: there is none with this id.
        Corrupt: a stored part is damaged.
    """
    issued = get(session, issue)
    rows = session.scalars(
        select(WeatherBasinRow).where(
            WeatherBasinRow.issue_id == issue,
            WeatherBasinRow.basin_id.in_(basins),
            WeatherBasinRow.available_time <= at,
        )
    )
    return {row.basin_id: _forecast(issued, row) for row in rows}


def newest(session: Session, basins: Sequence[str], at: datetime, days: Period) -> dict[str, str]:
    """Return, by basin, the newest weather forecast that covers some days.

    The newest has the latest reference time and, of several, was stored last. Forecasts sent with an operator's key are
    left out.
    """
    order = (WeatherIssueRow.reference_time.desc(), WeatherIssueRow.id.desc())
    rank = func.row_number().over(partition_by=WeatherBasinRow.basin_id, order_by=order).label("rank")
    ranked: Select[Any] = (
        select(WeatherBasinRow.basin_id, WeatherIssueRow.id, rank)
        .join(WeatherIssueRow, WeatherIssueRow.id == WeatherBasinRow.issue_id)
        .where(WeatherBasinRow.basin_id.in_(basins), *_known_and_covering(at, days))
    )
    found = ranked.subquery()
    rows = session.execute(select(found.c.basin_id, found.c.id).where(found.c.rank == 1))
    return {row.basin_id: row.id for row in rows}


def is_whole(row: Any) -> bool:
    """Return whether a basin's stored part (columns as attributes) is undamaged."""
    return bool(row.sha256 == sha256(_row_content(row)))


def outdated(session: Session, before: datetime, issues: Collection[str] | None = None) -> dict[str, int]:
    """Return the weather forecasts first stored before an instant. Each counts as 1.

    Args:
        issues: restrict to these; None for all.
    """
    query = select(WeatherIssueRow.id).where(WeatherIssueRow.created_at < before).order_by(WeatherIssueRow.id)
    return dict.fromkeys(session.scalars(query if issues is None else query.where(WeatherIssueRow.id.in_(issues))), 1)


def remove(session: Session, issues: Collection[str]) -> list[str]:
    """Delete weather forecasts, and return their ids. Runs that used one retain its name and credit."""
    session.execute(delete(WeatherBasinRow).where(WeatherBasinRow.issue_id.in_(issues)))
    deletion = delete(WeatherIssueRow).where(WeatherIssueRow.id.in_(issues))
    return list(session.scalars(deletion.returning(WeatherIssueRow.id)))


def _known_and_covering(at: datetime, days: Period) -> Iterator[ColumnElement[bool]]:
    yield WeatherIssueRow.operational.is_(True)
    yield WeatherBasinRow.available_time <= at
    yield WeatherBasinRow.first <= days.first
    yield WeatherBasinRow.last >= days.last


def _identity(issue: WeatherIssue) -> tuple[str, str, datetime]:
    return issue.source, issue.model, issue.reference_time


def _store_issue(session: Session, issue: WeatherIssue, at: datetime, operational: bool) -> str:
    """Return the id of an issue, stored now or before."""
    identity = {
        "source": issue.source,
        "model": issue.model,
        "reference_time": issue.reference_time,
        "operational": operational,
    }
    texts = {"licence": issue.licence, "credit": issue.credit}
    row = identity | texts | {"id": new_id(at), "created_at": at}
    session.execute(insert_into(session, WeatherIssueRow).values(row).on_conflict_do_nothing())
    found = session.scalar(select(WeatherIssueRow.id).filter_by(**identity))
    assert found is not None
    return found


def _row(issue_id: str, forecast: WeatherForecast) -> dict[str, Any]:
    variables = sorted(forecast.values)
    content = np.stack([forecast.values[name] for name in variables]).astype(VALUE).tobytes()
    return {
        "issue_id": issue_id,
        "basin_id": forecast.basin,
        "available_time": forecast.issue.available_time,
        "first": forecast.first,
        "last": forecast.period.last,
        "traces": list(forecast.traces),
        "variables": variables,
        "content": content,
        "sha256": sha256(_content_to_hash(forecast.first, forecast.traces, variables, content)),
    }


def _content_to_hash(first: Day, traces: Sequence[str], variables: Sequence[str], content: bytes) -> bytes:
    """Return the content of a part in the form that is hashed."""
    return f"{first} {','.join(traces)} {','.join(variables)} ".encode() + content


def _row_content(row: Any) -> bytes:
    return _content_to_hash(row.first, row.traces, row.variables, row.content)


def _insert(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        session.execute(insert_into(session, WeatherBasinRow).on_conflict_do_nothing(), rows)


def _hashes(session: Session, issue_id: str, basins: Mapping[str, Any]) -> dict[str, str]:
    rows = session.execute(
        select(WeatherBasinRow.basin_id, WeatherBasinRow.sha256).where(
            WeatherBasinRow.issue_id == issue_id, WeatherBasinRow.basin_id.in_(list(basins))
        )
    )
    return {row.basin_id: row.sha256 for row in rows}


def _other_content(basin: str, issue: WeatherIssue) -> str:
    return (
        f"{basin}: another weather forecast of {issue.source} {issue.model} of "
        f"{issue.reference_time:%Y-%m-%dT%H:%MZ} is stored, and stored ones never change: give this one its own "
        "reference time or model."
    )


def _forecast(issue: Issue, row: WeatherBasinRow) -> WeatherForecast:
    verified(_row_content(row), row.sha256, f"weather forecast {issue.id} of {row.basin_id}")
    shape = (len(row.variables), len(row.traces), len(Period(row.first, row.last)))
    values = np.frombuffer(row.content, VALUE).reshape(shape)
    return WeatherForecast(
        issue=WeatherIssue(
            source=issue.source,
            model=issue.model,
            reference_time=issue.reference_time,
            available_time=row.available_time,
            licence=issue.licence,
            credit=issue.credit,
        ),
        basin=row.basin_id,
        traces=tuple(row.traces),
        first=row.first,
        values=dict(zip(row.variables, values, strict=True)),
        units={name: WEATHER[name].unit for name in row.variables},
    )
