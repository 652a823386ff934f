"""Queues: whose job runs next, whether its message was sent, and how many unfinished ones a key may have.

A message in a queue lets a worker run one of its queued jobs, and that is the one whose owner's turn it is. The service
itself, with administrators, is one owner, and each operator's key is another. The service goes first, but not twice in
a row while others wait; of these the one whose last turn was longest ago does. An owner's jobs run in the order in
which they were posted, but the message's own comes first."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import ColumnElement, case, func, null, select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, Problem
from jobspec import kinds
from jobspec.kinds import subject
from records.access import keys
from records.access.keys import KEYS
from records.basins import regions
from records.basins.regions import REGIONS
from records.database.base import JsonObject
from records.database.stored import read
from records.jobs.jobs import ENDED, EVENTS, JOBS, Job, get
from records.jobs.process_heartbeats import live_processes, workers_by_queue
from records.jobs.schedules import SCHEDULES, BadCron, Schedule, next_run

_SERVICE = ""  # keys have longer ids
_OFFICIAL = keys.official(JOBS.c.key_id)
_owner = cast(ColumnElement[str], case((_OFFICIAL, _SERVICE), else_=JOBS.c.key_id))


class TooManyUnfinishedJobs(InvalidInput):
    """The key has reached its limit of unfinished jobs."""

    status = 409
    remedy = "Wait until some of the key's jobs have ended, or cancel some, and send the request again."


class LastJobUnfinished(Problem):
    """The last job of the schedule has not ended, and a schedule has one job at a time."""

    def __init__(self, schedule: Schedule, job: Job) -> None:
        super().__init__(
            f"The schedule {schedule.name!r} was due and left this time out, because its last job {job.id} is "
            f"{job.status}: a schedule has one job at a time."
        )
        self.job = job.id


def next_job(session: Session, message: str) -> str | None:
    """Return the queued job to run for a job's message, or None."""
    queue = get(session, message).queue
    owner = _next_owner(session, queue)
    if owner is None:
        return None
    own_first = (JOBS.c.id != message, JOBS.c.id)
    waiting = select(JOBS.c.id).where(JOBS.c.queue == queue, JOBS.c.status == "queued", _owner == owner)
    return session.scalar(waiting.order_by(*own_first).limit(1))


def is_awaited(session: Session, job: Job) -> bool:
    """Return whether another owner has a queued job in the queue of a running one."""
    own = select(_owner).where(JOBS.c.id == job.id).scalar_subquery()
    others = select(JOBS.c.id).where(JOBS.c.queue == job.queue, JOBS.c.status == "queued", _owner != own)
    return session.scalar(others.limit(1)) is not None


def unsent(session: Session) -> list[Job]:
    query = select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_(None))
    return read(session, Job, query.order_by(JOBS.c.id))


def sent(session: Session) -> list[Job]:
    """Return the queued jobs whose message was sent, the earliest sent first."""
    query = select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_not(None))
    return read(session, Job, query.order_by(JOBS.c.sent_at, JOBS.c.id))


def mark_sent(session: Session, job: str, at: datetime) -> None:
    session.execute(JOBS.update().where(JOBS.c.id == job, JOBS.c.status == "queued").values(sent_at=at))


def require_within_limit(session: Session, key_id: str | None, limit: int) -> None:
    """Check that a key is within its limit, and the keys of its region within theirs, counting the job just posted.

    The key's row stays locked until the transaction ends, so that jobs posted at the same time are all counted.
    Children of a job do not count; an administrator's key and the service itself have no limit. Let the transaction
    roll back after TooManyUnfinishedJobs.
    """
    if keys.is_official(session, key_id):
        return
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    session.execute(select(KEYS.c.id).where(KEYS.c.id == key_id).with_for_update(key_share=True))
    _require_fewer(session, JOBS.c.key_id == key_id, "This key has", "operators", limit)
    if of_region := regions.limit_of_key(session, key_id, REGIONS.c.unfinished_jobs):
        _require_fewer(
            session, JOBS.c.key_id.in_(of_region.keys), "The keys of this region have", "they", of_region.limit
        )


def _require_fewer(session: Session, own: ColumnElement[bool], holder: str, holders: str, limit: int) -> None:
    query = select(func.count()).select_from(JOBS).where(own, JOBS.c.parent_id.is_(None), JOBS.c.finished_at.is_(None))
    unfinished = session.scalar(query) or 0
    if unfinished > limit:
        raise TooManyUnfinishedJobs(
            f"{holder} {unfinished - 1} unfinished jobs, and {holders} may have {limit}: wait until some have "
            "ended, or cancel some (GET /v1/jobs?status=queued lists them, POST /v1/jobs/JOB/cancel stops one)."
        )


def require_last_ended(session: Session, schedule: Schedule) -> None:
    """Raise LastJobUnfinished unless the last job of a schedule has ended."""
    if schedule.last_job_id is not None and (last := get(session, schedule.last_job_id)).status not in ENDED:
        raise LastJobUnfinished(schedule, last)


def skipping(session: Session, now: datetime) -> list[LastJobUnfinished]:
    """Return why enabled schedules have left out a time, and leave out more until their last jobs end."""
    query = select(SCHEDULES).join(JOBS, SCHEDULES.c.last_job_id == JOBS.c.id)
    unfinished = read(session, Schedule, query.where(SCHEDULES.c.enabled, JOBS.c.status.not_in(ENDED)))
    left_out = [one for one in unfinished if one.last_run_at is not None and _was_due(one, one.last_run_at, now)]
    return [LastJobUnfinished(one, get(session, one.last_job_id)) for one in left_out if one.last_job_id is not None]


def _was_due(schedule: Schedule, after: datetime, now: datetime) -> bool:
    try:
        return next_run(schedule.cron, schedule.timezone, after) <= now
    except BadCron:  # the scheduler logs it
        return False


def _next_owner(session: Session, queue: str) -> str | None:
    columns = (_owner.label("owner"), JOBS.c.id, JOBS.c.status, JOBS.c.claimed_at)
    job = select(*columns).where(JOBS.c.queue == queue).subquery().c
    waiting = select(job.owner, func.min(job.id)).where(job.status == "queued").group_by(job.owner)
    oldest: dict[str, str] = dict(session.execute(waiting).all())
    claimed = select(job.owner, func.max(job.claimed_at)).where(job.claimed_at.is_not(None)).group_by(job.owner)
    turns: dict[str, datetime] = dict(session.execute(claimed).all())
    had_last = max(turns, key=lambda owner: turns[owner], default=None)
    if _SERVICE in oldest and (had_last != _SERVICE or len(oldest) == 1):
        return _SERVICE
    others = oldest.keys() - {_SERVICE}
    return min(others, key=lambda owner: (owner in turns, turns.get(owner), oldest[owner]), default=None)


@dataclass(frozen=True, slots=True)
class WaitingQueue:
    """A queue with jobs that no worker has taken yet.

    The times, by the machine's clock, are when the first of all jobs and of the service's own was queued. `runs` is
    whether its workers run a job or have taken one lately, of whichever of their queues; `workers` is their number.
    """

    queue: str
    jobs: int
    since: datetime
    service_jobs: int
    service_since: datetime | None
    runs: bool
    workers: int


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


def waiting_queues(session: Session, lately: datetime) -> list[WaitingQueue]:
    """Return the queues with waiting jobs; what has been taken since `lately` shows that workers are at work."""
    queued = select(JOBS.c.id).where(JOBS.c.status == "queued")
    queued_at = (
        select(EVENTS.c.job_id, func.max(EVENTS.c.at).label("at"))
        .where(EVENTS.c.job_id.in_(queued), EVENTS.c.type == "status")
        .group_by(EVENTS.c.job_id)
        .subquery()
    )
    taken = select(JOBS.c.queue, JOBS.c.worker).where((JOBS.c.status == "running") | (JOBS.c.claimed_at > lately))
    at_work = session.execute(taken).all()
    busy, workers = {queue for queue, _ in at_work}, {worker for _, worker in at_work}
    present = live_processes(session)
    busy.update(queue for process in present if process.name in workers for queue in process.queues)
    number = workers_by_queue(present)
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
        WaitingQueue(queue, jobs, since, service_jobs, service_since, runs=queue in busy, workers=number.get(queue, 0))
        for queue, jobs, since, service_jobs, service_since in session.execute(query)
    ]


def failing(session: Session) -> list[FailedJob]:
    """Return the failed last jobs of the service's own work: of each enabled schedule, and of each kind that it posts.

    A failure is over once an official job of the same kind and subject has succeeded. What a person posts is that
    person's to repeat, and degrades nothing.
    """
    columns = JOBS.c.id, JOBS.c.kind, JOBS.c.params, JOBS.c.finished_at
    of_schedules = (
        select(*columns, SCHEDULES.c.name.label("schedule"))
        .join(SCHEDULES, SCHEDULES.c.last_job_id == JOBS.c.id)
        .where(SCHEDULES.c.enabled, JOBS.c.status == "failed", _OFFICIAL)
        .order_by(SCHEDULES.c.name)
    )
    place = func.row_number().over(partition_by=JOBS.c.kind, order_by=(JOBS.c.finished_at.desc(), JOBS.c.id.desc()))
    own = JOBS.c.schedule_id.is_(None) & JOBS.c.parent_id.is_(None) & JOBS.c.key_id.is_(None)
    last = select(JOBS.c.id, place.label("place")).where(own, JOBS.c.status.in_(("succeeded", "failed"))).subquery()
    newest = select(last.c.id).where(last.c.place == 1)
    of_service = select(*columns, null().label("schedule")).where(JOBS.c.id.in_(newest), JOBS.c.status == "failed")
    queries = of_schedules, of_service.order_by(JOBS.c.kind)
    found = (failed for query in queries for failed in read(session, FailedJob, query))
    return [failed for failed in found if not _is_over(session, failed)]


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
