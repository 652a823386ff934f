"""Health of workers, judged by jobs: queues without workers, and failing jobs, posted or scheduled.

Details of operators' jobs are private: for those that failed or wait, only the service's own are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from jobspec import kinds
from jobspec.kinds import subject
from records.access import keys
from records.database.base import JsonObject
from records.jobs.job_row import EVENTS, JOBS
from records.jobs.schedules import SCHEDULES

_OFFICIAL = keys.official(JOBS.c.key_id)


@dataclass(frozen=True, slots=True)
class WaitingQueue:
    """A queue with jobs that no worker has taken yet.

    The times, by the machine's clock, are when the first of all jobs and of the service's own was queued.
    """

    queue: str
    jobs: int
    since: datetime
    service_jobs: int
    service_since: datetime | None
    runs: bool


@dataclass(frozen=True, slots=True)
class FailedJob:
    """The last job of its kind or schedule, which failed.

    `schedule` is the name of the one that posted it; None for a job that the service posted by itself.
    """

    id: str
    kind: str
    schedule: str | None
    params: JsonObject
    finished_at: datetime

    @classmethod
    def of(cls, row: Any, schedule: str | None) -> Self:
        """Return the failed job of a row."""
        assert row.finished_at is not None
        return cls(row.id, row.kind, schedule, row.params, row.finished_at)


def waiting_queues(session: Session) -> list[WaitingQueue]:
    """Return the queues with jobs that no worker has taken, by name."""
    queued = select(JOBS.c.id).where(JOBS.c.status == "queued")
    queued_at = (
        select(EVENTS.c.job_id, func.max(EVENTS.c.at).label("at"))
        .where(EVENTS.c.job_id.in_(queued), EVENTS.c.type == "status")
        .group_by(EVENTS.c.job_id)
        .subquery()
    )
    busy = set(session.scalars(select(JOBS.c.queue).where(JOBS.c.status == "running")))
    query = (
        select(
            JOBS.c.queue,
            func.count(),
            func.min(queued_at.c.at),
            func.count().filter(_OFFICIAL),
            func.min(queued_at.c.at).filter(_OFFICIAL),
        )
        .join(queued_at, queued_at.c.job_id == JOBS.c.id)
        .group_by(JOBS.c.queue)
        .order_by(JOBS.c.queue)
    )
    return [
        WaitingQueue(queue, jobs, since, service_jobs, service_since, queue in busy)
        for queue, jobs, since, service_jobs, service_since in session.execute(query)
    ]


def failing(session: Session) -> list[FailedJob]:
    """Return the failed last jobs of the service's own work: of each enabled schedule, and of each kind that it posts.

    A failure is over once an official job of the same kind and subject has succeeded. What a person posts is that
    person's to repeat, and degrades nothing.
    """
    return [failed for failed in [*_of_schedules(session), *_of_service(session)] if not _is_over(session, failed)]


def _of_schedules(session: Session) -> Iterator[FailedJob]:
    query = (
        select(JOBS.c.id, JOBS.c.kind, JOBS.c.params, JOBS.c.finished_at, SCHEDULES.c.name.label("schedule"))
        .join(SCHEDULES, SCHEDULES.c.last_job_id == JOBS.c.id)
        .where(SCHEDULES.c.enabled, JOBS.c.status == "failed", _OFFICIAL)
        .order_by(SCHEDULES.c.name)
    )
    for row in session.execute(query):
        yield FailedJob.of(row, row.schedule)


def _of_service(session: Session) -> Iterator[FailedJob]:
    place = func.row_number().over(partition_by=JOBS.c.kind, order_by=(JOBS.c.finished_at.desc(), JOBS.c.id.desc()))
    own = JOBS.c.schedule_id.is_(None) & JOBS.c.parent_id.is_(None) & JOBS.c.key_id.is_(None)
    last = select(JOBS.c.id, place.label("place")).where(own, JOBS.c.status.in_(("succeeded", "failed"))).subquery()
    newest = select(last.c.id).where(last.c.place == 1)
    query = select(JOBS).where(JOBS.c.id.in_(newest), JOBS.c.status == "failed").order_by(JOBS.c.kind)
    for row in session.execute(query):
        yield FailedJob.of(row, None)


def _is_over(session: Session, failed: FailedJob) -> bool:
    later = select(JOBS.c.params).where(
        JOBS.c.kind == failed.kind, JOBS.c.status == "succeeded", JOBS.c.finished_at > failed.finished_at, _OFFICIAL
    )
    wanted = _subject(failed.kind, failed.params)
    return any(_subject(failed.kind, params) == wanted for params in session.scalars(later))


def _subject(kind: str, params: JsonObject) -> object:
    """Return what a stored job is about; its params as they are where this code cannot read them."""
    try:
        return subject(kinds.read(kind, params))
    except kinds.InvalidRequest:
        return params
