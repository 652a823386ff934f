"""Health of workers, judged by jobs: queues without workers, and failing jobs, posted or scheduled.

Details of operators' jobs are private: for those that failed or wait, only the service's own are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from jobspec import kinds
from jobspec.subjects import subject
from records.access import keys
from records.database.base import JsonObject
from records.jobs.tables import EventRow, JobRow, ScheduleRow

_OFFICIAL = keys.official(JobRow.key_id)


@dataclass(frozen=True, slots=True)
class WaitingQueue:
    """A queue with jobs that no worker has taken yet.

    Attributes:
        jobs: number of queued jobs.
        since: when the first of them was queued, by the machine's clock.
        service_jobs: number of the service's own jobs.
        service_since: when the first of those was queued; None without one.
        runs: whether any of its jobs is running.
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

    Attributes:
        schedule: the name of the schedule that posted it; None for a job that the service posted by itself.
        finished_at: when it failed.
    """

    id: str
    kind: str
    schedule: str | None
    params: JsonObject
    finished_at: datetime

    @classmethod
    def of(cls, row: JobRow, schedule: str | None) -> Self:
        """Return the failed job of a row."""
        assert row.finished_at is not None
        return cls(row.id, row.kind, schedule, row.params, row.finished_at)


def waiting_queues(session: Session) -> list[WaitingQueue]:
    """Return the queues with jobs that no worker has taken, by name."""
    queued = select(JobRow.id).where(JobRow.status == "queued")
    queued_at = (
        select(EventRow.job_id, func.max(EventRow.at).label("at"))
        .where(EventRow.job_id.in_(queued), EventRow.type == "status")
        .group_by(EventRow.job_id)
        .subquery()
    )
    busy = set(session.scalars(select(JobRow.queue).where(JobRow.status == "running")))
    query = (
        select(
            JobRow.queue,
            func.count(),
            func.min(queued_at.c.at),
            func.count().filter(_OFFICIAL),
            func.min(queued_at.c.at).filter(_OFFICIAL),
        )
        .join(queued_at, queued_at.c.job_id == JobRow.id)
        .group_by(JobRow.queue)
        .order_by(JobRow.queue)
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
        select(JobRow, ScheduleRow.name)
        .join(ScheduleRow, ScheduleRow.last_job_id == JobRow.id)
        .where(ScheduleRow.enabled, JobRow.status == "failed", _OFFICIAL)
        .order_by(ScheduleRow.name)
    )
    for row, name in session.execute(query):
        yield FailedJob.of(row, name)


def _of_service(session: Session) -> Iterator[FailedJob]:
    place = func.row_number().over(partition_by=JobRow.kind, order_by=(JobRow.finished_at.desc(), JobRow.id.desc()))
    own = JobRow.schedule_id.is_(None) & JobRow.parent_id.is_(None) & JobRow.key_id.is_(None)
    last = select(JobRow.id, place.label("place")).where(own, JobRow.status.in_(("succeeded", "failed"))).subquery()
    newest = select(last.c.id).where(last.c.place == 1)
    query = select(JobRow).where(JobRow.id.in_(newest), JobRow.status == "failed").order_by(JobRow.kind)
    for row in session.scalars(query):
        yield FailedJob.of(row, None)


def _is_over(session: Session, failed: FailedJob) -> bool:
    """Return whether the same work has succeeded since it failed."""
    later = select(JobRow.params).where(
        JobRow.kind == failed.kind, JobRow.status == "succeeded", JobRow.finished_at > failed.finished_at, _OFFICIAL
    )
    wanted = _subject(failed.kind, failed.params)
    return any(_subject(failed.kind, params) == wanted for params in session.scalars(later))


def _subject(kind: str, params: JsonObject) -> object:
    """Return what a stored job is about; its params as they are where this code cannot read them."""
    try:
        return subject(kinds.read(kind, params))
    except kinds.InvalidRequest:
        return params
