"""Weather forecasts as issued: stored once, never changed, read as known at an instant."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Select, delete, exists, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, day
from hydrology.base.digests import sha256
from hydrology.base.errors import NotFound
from hydrology.base.variables import WEATHER
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from records.database import retention
from records.database.ids import verified
from records.database.statements import as_record
from records.series.year_rows import VALUE
from records.weather.store_weather import StoredIssue, content_to_hash, store
from records.weather.tables import WeatherBasinRow, WeatherIssueRow

__all__ = ["StoredIssue", "store"]  # and what stands here


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


def is_stored(session: Session, source: str, model: str) -> bool:
    """Return whether a weather forecast of a model is stored."""
    return bool(
        session.scalar(select(exists().where(WeatherIssueRow.source == source, WeatherIssueRow.model == model)))
    )


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
    of_issue = select(*columns).filter_by(issue_id=issue).where(WeatherBasinRow.available_time <= at)
    return [
        as_record(BasinPart, row, traces=tuple(row.traces), variables=tuple(row.variables))
        for row in session.execute(of_issue.order_by(WeatherBasinRow.basin_id))
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


def newest(
    session: Session, basins: Sequence[str], at: datetime, days: Period, *, whole: bool = True
) -> dict[str, str]:
    """Return, by basin, the newest weather forecast that covers some days.

    The newest has the latest reference time and, of several, was stored last. Forecasts sent with an operator's key are
    left out.

    Args:
        whole: whether it must cover all days; else the one is returned that covers them from the first to the
            latest day, if it held as many days when it was issued.
    """
    newest_first = (WeatherIssueRow.reference_time.desc(), WeatherIssueRow.id.desc())
    order = newest_first if whole else (WeatherBasinRow.last.desc(), *newest_first)
    last = days.last if whole else days.first
    rank = func.row_number().over(partition_by=WeatherBasinRow.basin_id, order_by=order).label("rank")
    ranked: Select[Any] = (
        select(WeatherBasinRow.basin_id, WeatherIssueRow.id, WeatherIssueRow.reference_time, WeatherBasinRow.last, rank)
        .join(WeatherIssueRow, WeatherIssueRow.id == WeatherBasinRow.issue_id)
        .where(WeatherBasinRow.basin_id.in_(basins), WeatherIssueRow.operational.is_(True))
        .where(WeatherBasinRow.available_time <= at)
        .where(WeatherBasinRow.first <= days.first, WeatherBasinRow.last >= last)
    )
    found = ranked.subquery()
    rows = session.execute(select(found).where(found.c.rank == 1))
    held = {row.basin_id: (row.id, Period(day(row.reference_time.date()), row.last)) for row in rows}
    return {basin: issue for basin, (issue, period) in held.items() if whole or len(period) >= len(days)}


def since(
    session: Session, source: str, model: str, basins: Sequence[str], *, days: Period, before: datetime
) -> list[tuple[str, Day]]:
    """Return the forecasts that feeds brought of a model, with their reference days, the oldest first.

    Of several with the same reference day the last stored is returned.

    Args:
        basins: that one must contain.
        days: one of which it must hold.
        before: instant before which its reference time lies.
    """
    query = (
        select(WeatherIssueRow.id, WeatherIssueRow.reference_time)
        .join(WeatherBasinRow, WeatherIssueRow.id == WeatherBasinRow.issue_id)
        .where(WeatherBasinRow.basin_id.in_(basins), WeatherIssueRow.operational.is_(True))
        .where(WeatherIssueRow.source == source, WeatherIssueRow.model == model)
        .where(WeatherBasinRow.first <= days.last, WeatherBasinRow.last >= days.first)
        .where(WeatherIssueRow.reference_time < before)
        .distinct()
        .order_by(WeatherIssueRow.reference_time, WeatherIssueRow.id)
    )
    by_day = {day(row.reference_time.date()): row.id for row in session.execute(query)}
    return [(issue, reference) for reference, issue in by_day.items()]


def stored_basins(session: Session, source: str, model: str, since: datetime) -> dict[datetime, set[str]]:
    """Return the basins of a model's forecasts that feeds brought, by reference time, from an instant on."""
    query = (
        select(WeatherIssueRow.reference_time, WeatherBasinRow.basin_id)
        .join(WeatherBasinRow, WeatherIssueRow.id == WeatherBasinRow.issue_id)
        .where(WeatherIssueRow.source == source, WeatherIssueRow.model == model)
        .where(WeatherIssueRow.operational.is_(True), WeatherIssueRow.reference_time >= since)
    )
    by_time: dict[datetime, set[str]] = {}
    for reference_time, basin in session.execute(query):
        by_time.setdefault(reference_time, set()).add(basin)
    return by_time


def is_whole(row: Any) -> bool:
    """Return whether a basin's stored part (columns as attributes) is undamaged."""
    return bool(row.sha256 == sha256(content_to_hash(row)))


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


def _forecast(issue: Issue, row: WeatherBasinRow) -> WeatherForecast:
    verified(content_to_hash(row), row.sha256, f"weather forecast {issue.id} of {row.basin_id}")
    shape = (len(row.variables), len(row.traces), len(Period(row.first, row.last)))
    values = np.frombuffer(row.content, VALUE).reshape(shape)
    return WeatherForecast(
        issue=as_record(WeatherIssue, issue, available_time=row.available_time),
        basin=row.basin_id,
        traces=tuple(row.traces),
        first=row.first,
        values=dict(zip(row.variables, values, strict=True)),
        units={name: WEATHER[name].unit for name in row.variables},
    )
