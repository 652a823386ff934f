"""Jobs: the row is the truth, a message only carries its id.

    queued -> running -> succeeded | failed | cancelled
    running -> queued (again), running -> waiting (for its children) -> queued

`attempt` is a fencing token: a worker that holds an older one is refused. Every `at` is the machine's time. For
concurrent changes see `records.jobs.job_row`.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import QUEUES
from records.database.base import JsonObject
from records.database.ids import new_id
from records.database.statements import as_values, insert_into
from records.jobs import training_progress
from records.jobs.job_row import (
    JOBS,
    Job,
    NewJob,
    StaleAttempt,
    UnknownJob,
    as_job,
    change,
    get,
    hold,
    locked,
    record_event,
    record_status,
)
from records.jobs.tables import EventRow, JobRow, ScheduleRow

__all__ = [
    "ENDED",
    "NO_PROGRESS",
    "PROCESS_DIED",
    "IdempotencyConflict",
    "Job",
    "JobEnded",
    "NewJob",
    "StaleAttempt",
    "UnknownJob",
    "children",
    "claim",
    "create",
    "deadly_files",
    "finish",
    "get",
    "heartbeat",
    "hold",
    "lapsed",
    "list_jobs",
    "mark_sent",
    "outdated",
    "release",
    "remove",
    "request_cancel",
    "resume_parent",
    "retry",
    "running_at",
    "sent",
    "take",
    "unfinished",
    "unsent",
    "wait",
]

ENDED = ("succeeded", "failed", "cancelled")
PROCESS_DIED = "process-died"
"""The kind of problem if the process that ran the job crashed or was killed."""
NO_PROGRESS = "no-progress"
"""The kind of problem if the job's progress has not changed for longer than its kind's limit for a step."""
MAX_DEADLY_FILES = 10
"""Maximum number of files of one source that its ingestion skips: check a source with more first."""


class IdempotencyConflict(InvalidInput):
    """The idempotency key was used for another request."""

    kind = "idempotency-conflict"
    remedy = "Send a new `Idempotency-Key` with a new request."


class JobEnded(InvalidInput):
    """The job has ended, so it cannot get more children."""

    kind = "job-ended"


def create(session: Session, new: NewJob, at: datetime) -> tuple[Job, bool]:
    """Post a job, and return it with whether it is new.

    The same request under the same idempotency key returns the stored job.

    Raises:
        IdempotencyConflict: another request was posted under the key.
        UnknownJob, JobEnded: the parent is not stored, or has ended.
        IntegrityError: there is no such queue.
        ValueError: a number in the params is not finite.
    """
    if new.queue not in QUEUES:
        raise ValueError(f"There is no queue {new.queue!r}: a job would wait in it for ever.")
    if new.parent_id is not None:
        parent = locked(session, new.parent_id)
        if parent.status in ENDED:
            raise JobEnded(f"Job {new.parent_id} has ended and cannot get more children.")
        new = replace(new, key_id=parent.key_id)
    request_hash = fingerprint({"kind": new.kind, "params": new.params})
    values = {"id": new_id(at), "status": "queued", "attempt": 0, "request_hash": request_hash, "created_at": at}
    # If two post at the same time, the second waits here until the first is committed.
    insert = insert_into(session, JobRow).on_conflict_do_nothing(index_elements=["idempotency_key"])
    inserted = session.execute(insert.values(**as_values(new), **values).returning(*JOBS.c)).one_or_none()
    if inserted is not None:
        job = as_job(inserted)
        record_status(session, job, at)
        return job, True
    job = as_job(session.execute(select(JOBS).where(JOBS.c.idempotency_key == new.idempotency_key)).one())
    if job.request_hash != request_hash:
        raise IdempotencyConflict(
            f"The idempotency key {new.idempotency_key!r} belongs to job {job.id}, which is a different request: "
            "use a new key for a new request."
        )
    return job, False


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
    filters = {"status": status, "kind": kind, "parent_id": parent}
    query = select(JOBS).filter_by(**{name: value for name, value in filters.items() if value is not None})
    if after is not None:
        query = query.where(JOBS.c.id < after)
    return [as_job(row) for row in session.execute(query.order_by(JOBS.c.id.desc()).limit(limit))]


def unfinished(session: Session, kind: str) -> list[Job]:
    """Return the unfinished jobs of a kind."""
    rows = session.execute(select(JOBS).where(JOBS.c.kind == kind, JOBS.c.finished_at.is_(None)).order_by(JOBS.c.id))
    return [as_job(row) for row in rows]


def children(session: Session, parent: str) -> list[Job]:
    """Return a job's children, oldest first."""
    return list_jobs(session, parent=parent)[::-1]


def claim(session: Session, job: str, *, worker: str, lease_until: datetime, at: datetime) -> Job | None:
    """Start the next attempt of a queued job. None if it is not queued (taken by another worker, or ended).

    Raises:
        UnknownJob: there is none with this id.
    """
    record = locked(session, job)
    if record.status != "queued":
        return None
    return change(
        session,
        record,
        at,
        status="running",
        attempt=record.attempt + 1,
        worker=worker,
        lease_until=lease_until,
        started_at=record.started_at or at,
    )


def heartbeat(
    session: Session, job: str, attempt: int, *, lease_until: datetime, progress: JsonObject | None = None, at: datetime
) -> bool:
    """Extend the lease, store any progress, and return whether the job should stop.

    The progress of a training's member is part of the training's.

    Raises:
        UnknownJob, StaleAttempt: as `hold`.
    """
    record = hold(session, job, attempt)
    values: dict[str, Any] = {"lease_until": lease_until}
    if progress is not None and progress != record.progress:
        values["progress"] = progress
        record_event(session, job, "progress", progress, at)
    after = change(session, record, at, **values)
    if "progress" in values:
        _show_members(session, after, at)
    return after.cancel_requested_at is not None


def finish(
    session: Session,
    job: str,
    attempt: int,
    *,
    status: str,
    result: JsonObject | None = None,
    problem: JsonObject | None = None,
    at: datetime,
) -> Job:
    """End a job as `succeeded`, `failed` (with its problem) or `cancelled`. The latter two stop its children.

    Raises:
        UnknownJob, StaleAttempt: as `hold`.
        IntegrityError: the status is none of these, or a failure lacks its problem.
    """
    ended = _end(session, hold(session, job, attempt), status, at, result=result, problem=problem)
    _show_members(session, ended, at)
    return ended


def _show_members(session: Session, job: Job, at: datetime) -> None:
    if job.parent_id is not None:
        training_progress.show(session, job.parent_id, children(session, job.parent_id), at)


def wait(session: Session, job: str, attempt: int, at: datetime) -> Job:
    """Let a job wait for the children it has posted. If it was asked to stop, cancel all of them.

    The attempt that posted them does not count against `max_attempts`.

    Raises:
        UnknownJob, StaleAttempt: as `hold`.
    """
    record = hold(session, job, attempt)
    if record.cancel_requested_at is not None:
        return _end(session, record, "cancelled", at)
    return change(session, record, at, status="waiting", lease_until=None, max_attempts=record.max_attempts + 1)


def resume_parent(session: Session, parent: str, at: datetime) -> bool:
    """Queue a waiting job again if all its children have ended. Of several concurrent callers, one gets True.

    Raises:
        UnknownJob: there is none with this id.
    """
    record = locked(session, parent)
    if record.status != "waiting" or any(child.status not in ENDED for child in children(session, parent)):
        return False
    change(session, record, at, status="queued", sent_at=None)
    return True


def retry(
    session: Session, job: str, attempt: int, problem: JsonObject, at: datetime, death: JsonObject | None = None
) -> Job:
    """Queue a job again after a problem. Fail it after its last attempt, cancel it if it was asked to stop.

    A job whose process has died or hung twice in the same way and at the same place fails too, since it would do so
    again. If that place is a file, the job continues without it (`deadly_files`), and the two attempts do not count.

    Args:
        death: `{"file", "end"}` of a process that died or hung while it read a file: its name, and how it ended.

    Raises:
        UnknownJob, StaleAttempt: as `hold`.
    """
    record = hold(session, job, attempt)
    if death is not None and record.cancel_requested_at is None:
        known = deadly_files(session, job)
        record_event(
            session, job, "log", {"text": f"The process that read {death['file']} {death['end']}.", **death}, at
        )
        if len(known) < len(deadly_files(session, job)) <= MAX_DEADLY_FILES:
            return _queued_again(session, record, problem, at, max_attempts=record.max_attempts + 2)
    return _again(session, record, problem, at)


def deadly_files(session: Session, job: str) -> dict[str, str]:
    """Return the files that a job has to skip, with their last end. Its process died at each of them twice."""
    logs = select(EventRow.data).where(EventRow.job_id == job, EventRow.type == "log").order_by(EventRow.seq)
    deaths = [data for data in session.scalars(logs) if "file" in data]
    counts = Counter(death["file"] for death in deaths)
    return {death["file"]: death["end"] for death in deaths if counts[death["file"]] > 1}


def release(session: Session, job: str, attempt: int, at: datetime, why: str) -> Job:
    """Queue a job again that could not end through no fault of its own. Cancel it if it was asked to stop.

    The attempt does not count against `max_attempts`.

    Args:
        why: a sentence for the job's log.

    Raises:
        UnknownJob, StaleAttempt: as `hold`.
    """
    record = hold(session, job, attempt)
    if record.cancel_requested_at is not None:
        return _end(session, record, "cancelled", at)
    record_event(session, job, "log", {"text": why}, at)
    return change(
        session, record, at, status="queued", lease_until=None, sent_at=None, max_attempts=record.max_attempts + 1
    )


def request_cancel(session: Session, job: str, at: datetime) -> Job:
    """Cancel a job and its children. A running job is asked to stop.

    An ended job stays as it is.

    Raises:
        UnknownJob: there is none with this id.
    """
    return _cancel(session, locked(session, job), at)


def lapsed(session: Session, at: datetime, lease: timedelta) -> list[Job]:
    """Return the running jobs whose lease has expired.

    A lease that ends later than a new one has expired, too: the clock was set back.

    Args:
        lease: duration of a lease.
    """
    over = or_(JOBS.c.lease_until < at, JOBS.c.lease_until > at + lease)
    rows = session.execute(select(JOBS).where(JOBS.c.status == "running", over).order_by(JOBS.c.id))
    return [as_job(row) for row in rows]


def running_at(session: Session, workers: Sequence[str]) -> list[Job]:
    """Return the jobs that some workers run."""
    rows = session.execute(select(JOBS).where(JOBS.c.status == "running", JOBS.c.worker.in_(workers)))
    return [as_job(row) for row in rows]


def take(session: Session, lost: Job, at: datetime) -> Job | None:
    """Take a lost job from its worker, as `retry` does. None if it has changed since it was read."""
    record = locked(session, lost.id)
    if (record.status, record.attempt, record.lease_until) != ("running", lost.attempt, lost.lease_until):
        return None
    detail = (
        f"The worker of attempt {record.attempt} of {record.max_attempts} ({record.worker}) was lost. "
        "Its log or the system's may show the cause."
    )
    return _again(session, record, {"kind": "worker-lost", "detail": detail}, at)


def unsent(session: Session) -> list[Job]:
    """Return the queued jobs whose message was not sent since they were queued."""
    rows = select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_(None))
    return [as_job(row) for row in session.execute(rows.order_by(JOBS.c.id))]


def sent(session: Session) -> list[Job]:
    """Return the queued jobs whose message was sent, the earliest sent first."""
    rows = select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_not(None))
    return [as_job(row) for row in session.execute(rows.order_by(JOBS.c.sent_at, JOBS.c.id))]


def mark_sent(session: Session, job: str, at: datetime) -> None:
    """Record that a queued job's message was sent."""
    session.execute(JOBS.update().where(JOBS.c.id == job, JOBS.c.status == "queued").values(sent_at=at))


def outdated(session: Session, before: datetime, roots: Collection[str] | None = None) -> dict[str, int]:
    """Return the families of jobs that had all ended before an instant: the number of jobs by the first one's id.

    The last job of a schedule is not included.

    Args:
        roots: restrict to these; None for all.
    """
    child = JOBS.alias()
    late = or_(child.c.finished_at.is_(None), child.c.finished_at >= before)
    busy = select(child.c.parent_id).where(child.c.parent_id.is_not(None), late)
    named = select(ScheduleRow.last_job_id).where(ScheduleRow.last_job_id.is_not(None))
    sizes = select(func.count()).where(child.c.parent_id == JOBS.c.id).scalar_subquery()
    query = select(JOBS.c.id, sizes + 1).where(
        JOBS.c.parent_id.is_(None), JOBS.c.finished_at < before, JOBS.c.id.not_in(busy), JOBS.c.id.not_in(named)
    )
    if roots is not None:
        query = query.where(JOBS.c.id.in_(roots))
    return dict(session.execute(query.order_by(JOBS.c.id)).all())


def remove(session: Session, roots: Collection[str]) -> list[str]:
    """Delete families of jobs with their events. Return the ids of all their jobs."""
    deletion = JOBS.delete().where(or_(JOBS.c.id.in_(roots), JOBS.c.parent_id.in_(roots)))
    return list(session.scalars(deletion.returning(JOBS.c.id)))


def _end(session: Session, job: Job, status: str, at: datetime, **values: Any) -> Job:
    ended = change(session, job, at, status=status, lease_until=None, finished_at=at, **values)
    if status != "succeeded":
        _cancel_children(session, job, at)
    return ended


def _again(session: Session, job: Job, problem: JsonObject, at: datetime) -> Job:
    if job.cancel_requested_at is not None:
        return _end(session, job, "cancelled", at)
    if job.attempt >= job.max_attempts or _comes_again(session, job, problem):
        return _end(session, job, "failed", at, problem=problem)
    return _queued_again(session, job, problem, at)


def _comes_again(session: Session, job: Job, problem: JsonObject) -> bool:
    """Return whether the process died or hung twice in the same way and place."""
    return problem["kind"] in (PROCESS_DIED, NO_PROGRESS) and problem == _last_problem(session, job)


def _queued_again(session: Session, job: Job, problem: JsonObject, at: datetime, **values: Any) -> Job:
    return change(session, job, at, problem, status="queued", lease_until=None, sent_at=None, **values)


def _last_problem(session: Session, job: Job) -> JsonObject | None:
    """Return why the job was last queued again. None if it never was."""
    statuses = select(EventRow.data).where(EventRow.job_id == job.id, EventRow.type == "status")
    newest_first = session.scalars(statuses.order_by(EventRow.seq.desc()))
    problems = (data["problem"] for data in newest_first if "problem" in data)
    return next(problems, None)


def _cancel(session: Session, job: Job, at: datetime) -> Job:
    if job.status in ("queued", "waiting"):
        return _end(session, job, "cancelled", at, cancel_requested_at=at)
    if job.status == "running" and job.cancel_requested_at is None:
        job = change(session, job, at, cancel_requested_at=at)
        _cancel_children(session, job, at)
    return job


def _cancel_children(session: Session, job: Job, at: datetime) -> None:
    # Changing a child needs the lock of its parent, which is held here: no child changes meanwhile.
    for child in children(session, job.id):
        _cancel(session, child, at)
