"""Jobs: the row is the truth, a message only carries its id.

    queued -> running -> succeeded | failed | cancelled
    running -> queued (again), running -> waiting (for its children) -> queued

`attempt` is a fencing token: a worker that holds an older one is refused. Every `at` is the machine's time.

Each change locks the job's parent, if it has one, and then the job. So changes in one family are serialized, none is
lost, and they do not deadlock. It then compares and sets, and writes its event in the same transaction, so the events
of a job are numbered in the order of their commits. A child has no children of its own.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint
from hydrology.base.errors import InvalidInput, NotFound, Problem
from jobspec.jobs.base import QUEUES
from records.database import retention
from records.database.base import FreeText, JsonObject, one_of
from records.database.checksums import new_id
from records.database.stored import add_all, as_record, as_values, insert_into, narrowed, read, stored, table_of
from records.jobs.schedules import SCHEDULES

STATUSES = ("queued", "running", "waiting", "succeeded", "failed", "cancelled")


class UnknownJob(NotFound):
    """No job with this id is stored."""


class StaleAttempt(Problem):
    """The job is no longer running under this attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to be posted.

    The same `idempotency_key` again is the same job; a child has its parent's `key_id`. `max_attempts` is how often it
    may fail or lose its worker.
    """

    kind: str
    params: JsonObject
    queue: str
    parent_id: Annotated[str | None, ForeignKey("jobs.id")] = None
    # Not a foreign key: jobs outlive their schedule.
    schedule_id: str | None = None
    idempotency_key: str | None = None
    created_by: FreeText | None = None
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str | None = None
    max_attempts: int = 3


@stored(
    "jobs",
    one_of("status", *STATUSES),
    CheckConstraint("attempt BETWEEN 0 AND max_attempts", name="attempt"),
    CheckConstraint("(status = 'running') = (lease_until IS NOT NULL)", name="lease"),
    CheckConstraint("status NOT IN ('queued', 'waiting') OR cancel_requested_at IS NULL", name="cancel"),
    CheckConstraint("(status = 'failed') = (problem IS NOT NULL)", name="problem"),
    CheckConstraint("(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)", name="finished"),
    UniqueConstraint("idempotency_key"),
    Index(None, "status"),
    Index(None, "parent_id"),
)
class Job(NewJob):
    """A stored job. Its row is authoritative; the broker's message only carries its id.

    Attributes:
        status: `queued`, `running`, `waiting` (for its children), `succeeded`, `failed`, `cancelled`.
        attempt: 0 before the first claim; grows with each.
        lease_until: while it runs, the instant after which its worker counts as lost.
        progress: `{"done", "total", "detail"}`, as last reported.
        plan: what it has started and a later attempt continues, where data that arrive meanwhile must not change that.
        problem: `{"kind", "detail"}`, why it failed.
        sent_at: when its message was last sent; None since it was last queued.
    """

    id: str
    status: str
    attempt: int
    worker: str | None
    lease_until: datetime | None
    cancel_requested_at: datetime | None
    progress: JsonObject | None
    plan: JsonObject | None
    result: JsonObject | None
    problem: JsonObject | None
    request_hash: str
    created_at: datetime
    started_at: datetime | None
    claimed_at: datetime | None
    finished_at: datetime | None
    sent_at: datetime | None


@stored(
    "job_events", one_of("type", "status", "progress", "log"), Index(None, "job_id", "seq"), key=("seq",), numbered=True
)
class Event:
    """An event of a job.

    Attributes:
        seq: grows with each event, with gaps, and is never reused; ordered by commit within one job only.
        type: `status`, `progress` or `log`.
        data: of a status `{"status", "attempt", "cancel_requested"}` and the `problem` if there is one, of
            progress the last report, of a log line `{"text"}`, and `{"file", "end"}` if it is about a file at which the
            job's process died.
    """

    seq: int
    job_id: Annotated[str, ForeignKey("jobs.id", ondelete="CASCADE")]
    at: datetime
    type: str
    data: JsonObject


JOBS, EVENTS = table_of(Job), table_of(Event)


def get(session: Session, job: str) -> Job:
    unknown = UnknownJob(f"No job {job!r} is stored here: list the jobs to see their ids.")
    return retention.get(session, Job, "jobs", job, unknown)


def locked(session: Session, job: str) -> Job:
    """Lock a job's parent, if any, and the job, and return its current state."""
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    parent = select(JOBS.c.parent_id).where(JOBS.c.id == job).scalar_subquery()
    for row_id in (parent, job):
        session.execute(select(JOBS.c.id).where(JOBS.c.id == row_id).with_for_update(key_share=True))
    return get(session, job)


def hold(session: Session, job: str, attempt: int) -> Job:
    """Return a job that runs under this attempt, else raise StaleAttempt; locked until the transaction ends."""
    record = locked(session, job)
    if (record.status, record.attempt) != ("running", attempt):
        raise StaleAttempt(
            f"Job {job} is {record.status} (attempt {record.attempt}): attempt {attempt} may no longer write."
        )
    return record


def change(session: Session, job: Job, at: datetime, why: JsonObject | None = None, **values: Any) -> Job:
    """Set values if the row is unchanged since it was read. Record a change of status and its reason."""
    unchanged = (JOBS.c.id == job.id, JOBS.c.status == job.status, JOBS.c.attempt == job.attempt)
    changed = as_record(Job, session.execute(JOBS.update().where(*unchanged).values(**values).returning(*JOBS.c)).one())
    if (changed.status, changed.cancel_requested_at) != (job.status, job.cancel_requested_at):
        record_status(session, changed, at, why)
    return changed


def store_plan(session: Session, job: str, attempt: int, plan: JsonObject) -> None:
    hold(session, job, attempt)
    session.execute(JOBS.update().where(JOBS.c.id == job).values(plan=plan))


def record_event(session: Session, job: str, type_: str, data: JsonObject, at: datetime) -> None:
    """Write an event of a job whose row this transaction has locked (`hold`)."""
    add_all(session, Event, [{"job_id": job, "at": at, "type": type_, "data": data}])


def record_status(session: Session, job: Job, at: datetime, why: JsonObject | None = None) -> None:
    data = {"status": job.status, "attempt": job.attempt, "cancel_requested": job.cancel_requested_at is not None}
    problem = why or job.problem
    record_event(session, job.id, "status", data | ({"problem": problem} if problem else {}), at)


def log(session: Session, job: str, attempt: int, text: str, at: datetime) -> None:
    hold(session, job, attempt)
    record_event(session, job, "log", {"text": text}, at)


def note(session: Session, job: str, text: str, at: datetime) -> None:
    """Add a line to the log of a job, whatever its status."""
    locked(session, job)
    record_event(session, job, "log", {"text": text}, at)


def events_after(session: Session, job: str, seq: int, limit: int = 100) -> list[Event]:
    """Return a job's events after a number, oldest first. 0 is the start."""
    newer = select(EVENTS).where(EVENTS.c.job_id == job, EVENTS.c.seq > seq)
    return read(session, Event, newer.order_by(EVENTS.c.seq).limit(limit))


ENDED = ("succeeded", "failed", "cancelled")


class IdempotencyConflict(InvalidInput):
    """The idempotency key was used for another request."""

    remedy = "Send a new `Idempotency-Key` with a new request."


class JobEnded(InvalidInput):
    """The job has ended, so it cannot get more children."""


def request_hash(kind: str, params: JsonObject) -> str:
    return fingerprint({"kind": kind, "params": params})


def create(session: Session, new: NewJob, at: datetime) -> tuple[Job, bool]:
    """Post a job, and return it with whether it is new.

    The same request under the same idempotency key returns the stored job, another one raises IdempotencyConflict.
    """
    if new.queue not in QUEUES:
        raise ValueError(f"There is no queue {new.queue!r}: a job would wait in it for ever.")
    if new.parent_id is not None:
        parent = locked(session, new.parent_id)
        if parent.status in ENDED:
            raise JobEnded(f"Job {new.parent_id} has ended and cannot get more children.")
        new = replace(new, key_id=parent.key_id)
    asked = request_hash(new.kind, new.params)
    values = {"id": new_id(at), "status": "queued", "attempt": 0, "request_hash": asked, "created_at": at}
    # If two post at the same time, the second waits here until the first is committed.
    insert = insert_into(session, Job).on_conflict_do_nothing(index_elements=["idempotency_key"])
    inserted = session.execute(insert.values(**as_values(new), **values).returning(*JOBS.c)).one_or_none()
    if inserted is not None:
        job = as_record(Job, inserted)
        record_status(session, job, at)
        return job, True
    job = as_record(Job, session.execute(select(JOBS).where(JOBS.c.idempotency_key == new.idempotency_key)).one())
    if job.request_hash != asked:
        raise IdempotencyConflict(
            f"The idempotency key {new.idempotency_key!r} belongs to job {job.id}, which is a different request: "
            "use a new key for a new request."
        )
    return job, False


def is_posted(session: Session, idempotency_key: str | None) -> bool:
    of_key = select(JOBS.c.id).where(JOBS.c.idempotency_key == idempotency_key)
    return idempotency_key is not None and session.execute(of_key).one_or_none() is not None


def list_jobs(
    session: Session,
    *,
    status: str | None = None,
    kind: str | None = None,
    parent: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Job]:
    """Return jobs, newest first. `after` is the last id of the previous page."""
    query = narrowed(
        select(JOBS).order_by(JOBS.c.id.desc()).limit(limit),
        (JOBS.c.status.__eq__, status),
        (JOBS.c.kind.__eq__, kind),
        (JOBS.c.parent_id.__eq__, parent),
        (JOBS.c.id.__lt__, after),
    )
    return read(session, Job, query)


def unfinished(session: Session, kind: str) -> list[Job]:
    return read(session, Job, select(JOBS).where(JOBS.c.kind == kind, JOBS.c.finished_at.is_(None)).order_by(JOBS.c.id))


def children(session: Session, parent: str) -> list[Job]:
    return list_jobs(session, parent=parent)[::-1]


def brief_children(session: Session, parent: str) -> list[Job]:
    """Return the children without their plans and results, which may be large."""
    briefly = select(*(column for column in JOBS.c if column.name not in ("plan", "result")))
    rows = session.execute(briefly.where(JOBS.c.parent_id == parent).order_by(JOBS.c.id))
    return [as_record(Job, row, plan=None, result=None) for row in rows]


def outdated(session: Session, before: datetime, roots: Collection[str] | None = None) -> dict[str, int]:
    """Return the families of jobs that had all ended before an instant: the number of jobs by the first one's id.

    The last job of a schedule is not included.
    """
    child = JOBS.alias()
    late = or_(child.c.finished_at.is_(None), child.c.finished_at >= before)
    busy = select(child.c.parent_id).where(child.c.parent_id.is_not(None), late)
    named = select(SCHEDULES.c.last_job_id).where(SCHEDULES.c.last_job_id.is_not(None))
    sizes = select(func.count()).where(child.c.parent_id == JOBS.c.id).scalar_subquery()
    query = select(JOBS.c.id, sizes + 1).where(
        JOBS.c.parent_id.is_(None), JOBS.c.finished_at < before, JOBS.c.id.not_in(busy), JOBS.c.id.not_in(named)
    )
    query = narrowed(query, (JOBS.c.id.in_, roots)).order_by(JOBS.c.id)
    return dict(session.execute(query).all())


def remove(session: Session, roots: Collection[str]) -> list[str]:
    """Delete families of jobs with their events. Return the ids of all their jobs."""
    deletion = JOBS.delete().where(or_(JOBS.c.id.in_(roots), JOBS.c.parent_id.in_(roots)))
    return list(session.scalars(deletion.returning(JOBS.c.id)))
