"""What the jobs say of the workers: queues that nobody takes from, work that fails, posted or by schedule.

What an operator's jobs meet is theirs to see: of those that failed or wait behind others, only the service's count.
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
    """A queue with work that nobody has taken yet.

    Attributes:
        jobs: how many are queued.
        since: when the first of them was queued, by the wall's clock.
        service_jobs: how many of them are the service's own.
        service_since: when the first of those was queued; None where there is none.
        runs: whether any of its jobs does.
    """

    queue: str
    jobs: int
    since: datetime
    service_jobs: int
    service_since: datetime | None
    runs: bool


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed last of its kind, or of its schedule.

    Attributes:
        schedule: the name of the schedule that posted it; None for one that was posted by somebody.
    """

    id: str
    kind: str
    schedule: str | None


def waiting_queues(session: Session) -> list[WaitingQueue]:
    """Return the queues with work that nobody has taken, in the order of their names."""
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
    """Return the service's last ended job of each kind that somebody posted, where it failed, in order of the kinds."""
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
    """Return the last job of each enabled schedule of the service, where it failed, in the order of their names."""
    query = (
        select(JobRow.id, JobRow.kind, ScheduleRow.name)
        .join(ScheduleRow, ScheduleRow.last_job_id == JobRow.id)
        .where(ScheduleRow.enabled, JobRow.status == "failed", _OFFICIAL)
        .order_by(ScheduleRow.name)
    )
    return [FailedJob(job, kind, name) for job, kind, name in session.execute(query)]
