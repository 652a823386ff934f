"""Health of workers, judged by jobs: queues without workers, and failing jobs, posted or scheduled.

Details of operators' jobs are private: for those that failed or wait, only the service's own are counted.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from records.access import keys
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
    """The last job of its kind or schedule, if it failed.

    Attributes:
        schedule: the name of the schedule that posted it; None for a job that a person posted.
    """

    id: str
    kind: str
    schedule: str | None


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


def failed_kinds(session: Session) -> list[FailedJob]:
    """Return the service's failed last job of each kind that people posted, by kind."""
    place = func.row_number().over(partition_by=JobRow.kind, order_by=(JobRow.finished_at.desc(), JobRow.id.desc()))
    posted = JobRow.schedule_id.is_(None) & JobRow.parent_id.is_(None) & _OFFICIAL
    ended = (
        select(JobRow.id, JobRow.kind, JobRow.status, place.label("place"))
        .where(posted, JobRow.status.in_(("succeeded", "failed")))
        .subquery()
    )
    query = (
        select(ended.c.id, ended.c.kind).where(ended.c.place == 1, ended.c.status == "failed").order_by(ended.c.kind)
    )
    return [FailedJob(job, kind, None) for job, kind in session.execute(query)]


def failing_schedules(session: Session) -> list[FailedJob]:
    """Return the failed last job of each enabled schedule of the service, by name."""
    query = (
        select(JobRow.id, JobRow.kind, ScheduleRow.name)
        .join(ScheduleRow, ScheduleRow.last_job_id == JobRow.id)
        .where(ScheduleRow.enabled, JobRow.status == "failed", _OFFICIAL)
        .order_by(ScheduleRow.name)
    )
    return [FailedJob(job, kind, name) for job, kind, name in session.execute(query)]
