"""Queries for monitoring the service, whose cost does not grow with the years; and records from the future."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from records.basins import ownership
from records.database import checksums
from records.feeds.feeds import FEEDS
from records.forecasts.latest import CURRENT
from records.jobs.jobs import JOBS
from records.jobs.schedules import SCHEDULES
from records.runs.run_store import LATEST, TRIED
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import NEWEST_RUNS


@dataclass(frozen=True, slots=True)
class WaitingJobs:
    """The jobs of a queue that no worker has taken yet."""

    queue: str
    jobs: int
    oldest_at: datetime


def waiting_jobs(session: Session) -> list[WaitingJobs]:
    of_queue = select(JOBS.c.queue, func.count(), func.min(JOBS.c.created_at)).where(JOBS.c.status == "queued")
    return [WaitingJobs(*row) for row in session.execute(of_queue.group_by(JOBS.c.queue))]


def jobs_of_a_day(session: Session, now: datetime) -> dict[tuple[str, ...], int]:
    since = checksums.first_of(now - timedelta(days=1))
    query = select(JOBS.c.kind, JOBS.c.status, func.count()).where(JOBS.c.id >= since)
    return {(kind, status): jobs for kind, status, jobs in session.execute(query.group_by(JOBS.c.kind, JOBS.c.status))}


def feeds(session: Session) -> dict[str, datetime | None]:
    """Return when each feed last fetched without a failed basin, by the service's clock. None if never."""
    return dict(session.execute(select(FEEDS.c.name, FEEDS.c.last_success_at).order_by(FEEDS.c.name)).all())


def newest_t0(session: Session, now: datetime) -> dict[str, Day]:
    """Return each version's newest T0 among the official basins' latest forecasts, at the service's time."""
    query = select(NEWEST_RUNS.c.version_id, func.max(NEWEST_RUNS.c.t0))
    seen = query.where(NEWEST_RUNS.c.which == LATEST, NEWEST_RUNS.c.available_at <= now)
    official = seen.where(NEWEST_RUNS.c.basin_id.not_in(ownership.unofficial_ids()))
    return dict(session.execute(official.group_by(NEWEST_RUNS.c.version_id)).all())


def newest_basins(session: Session) -> dict[str, int]:
    query = _newest(RUN_BASINS.c.status, func.count()).group_by(RUN_BASINS.c.status)
    return dict(session.execute(query).all())


def worst_residual(session: Session) -> float | None:
    """Return the largest ratio of a ledger's residual to its tolerance among those runs. None without ledgers."""
    ratio = func.max(func.abs(RUN_BASINS.c.residual_mm) / RUN_BASINS.c.tolerance_mm)
    worst = session.scalar(_newest(ratio).where(RUN_BASINS.c.tolerance_mm > 0))
    return None if worst is None else float(worst)


def _newest(*columns: Any) -> Select[Any]:
    of_basin = (RUN_BASINS.c.run_id == NEWEST_RUNS.c.run_id) & (RUN_BASINS.c.basin_id == NEWEST_RUNS.c.basin_id)
    query: Select[Any] = select(*columns)
    return query.select_from(NEWEST_RUNS).join(RUN_BASINS, of_basin).where(NEWEST_RUNS.c.which == TRIED, CURRENT)


def database_bytes(session: Session, file: Path | None) -> int:
    """Return the size of the database in bytes; `file` is SQLite's."""
    if file is None:
        return session.scalar(select(func.pg_database_size(func.current_database()))) or 0
    parts = (file.with_name(file.name + suffix) for suffix in ("", "-wal", "-shm"))
    return sum(part.stat().st_size for part in parts if part.exists())


TOLERANCE = timedelta(minutes=5)
"""Maximum accepted difference between the clocks of two machines."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A record from the future; `what` begins a sentence about it."""

    what: str
    at: datetime


def ahead(session: Session, now: datetime) -> list[Ahead]:
    newest_job = select(JOBS.c.id, JOBS.c.created_at).order_by(JOBS.c.id.desc()).limit(1)
    newest_run = select(RUNS.c.id, RUNS.c.created_at).order_by(RUNS.c.id.desc()).limit(1)
    fired_at = session.scalar(select(func.max(SCHEDULES.c.last_run_at)))
    seen = [
        *(Ahead(f"job {job}", at) for job, at in session.execute(newest_job)),
        *(Ahead(f"run {run}", at) for run, at in session.execute(newest_run)),
        *([] if fired_at is None else [Ahead("a schedule's last job", fired_at)]),
    ]
    return [each for each in seen if each.at > now + TOLERANCE]
