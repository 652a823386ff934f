"""Jobs: the row is the truth, a message only carries its id.

    queued -> running -> succeeded | failed | cancelled
    running -> queued (again), running -> waiting (for its children) -> queued

`attempt` is a fencing token: a worker that holds an older one is refused. Every `at` is the machine's time. For
concurrent changes see `records.jobs.job_row`.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import QUEUES
from records.database.ids import new_id
from records.database.statements import as_record, as_values, insert_into
from records.jobs.job_row import (
    JOBS,
    Job,
    NewJob,
    StaleAttempt,
    UnknownJob,
    get,
    hold,
    listed,
    locked,
    record_status,
    store_plan,
)
from records.jobs.schedules import SCHEDULES

__all__ = [
    "ENDED",
    "Job",
    "NewJob",
    "StaleAttempt",
    "UnknownJob",
    "create",
    "get",
    "hold",
    "is_posted",
    "list_jobs",
    "store_plan",
    "unfinished",
]

ENDED = ("succeeded", "failed", "cancelled")


class IdempotencyConflict(InvalidInput):
    """The idempotency key was used for another request."""

    kind = "idempotency-conflict"
    remedy = "Send a new `Idempotency-Key` with a new request."


class JobEnded(InvalidInput):
    """The job has ended, so it cannot get more children."""

    kind = "job-ended"


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
    request_hash = fingerprint({"kind": new.kind, "params": new.params})
    values = {"id": new_id(at), "status": "queued", "attempt": 0, "request_hash": request_hash, "created_at": at}
    # If two post at the same time, the second waits here until the first is committed.
    insert = insert_into(session, Job).on_conflict_do_nothing(index_elements=["idempotency_key"])
    inserted = session.execute(insert.values(**as_values(new), **values).returning(*JOBS.c)).one_or_none()
    if inserted is not None:
        job = as_record(Job, inserted)
        record_status(session, job, at)
        return job, True
    job = as_record(Job, session.execute(select(JOBS).where(JOBS.c.idempotency_key == new.idempotency_key)).one())
    if job.request_hash != request_hash:
        raise IdempotencyConflict(
            f"The idempotency key {new.idempotency_key!r} belongs to job {job.id}, which is a different request: "
            "use a new key for a new request."
        )
    return job, False


def is_posted(session: Session, idempotency_key: str | None) -> bool:
    """Return whether a job was posted under an idempotency key."""
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
    filters = {"status": status, "kind": kind, "parent_id": parent}
    query = select(JOBS).filter_by(**{name: value for name, value in filters.items() if value is not None})
    if after is not None:
        query = query.where(JOBS.c.id < after)
    return listed(session, query.order_by(JOBS.c.id.desc()).limit(limit))


def unfinished(session: Session, kind: str) -> list[Job]:
    """Return the unfinished jobs of a kind."""
    return listed(session, select(JOBS).where(JOBS.c.kind == kind, JOBS.c.finished_at.is_(None)).order_by(JOBS.c.id))


def children(session: Session, parent: str) -> list[Job]:
    """Return a job's children, oldest first."""
    return list_jobs(session, parent=parent)[::-1]


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
    if roots is not None:
        query = query.where(JOBS.c.id.in_(roots))
    return dict(session.execute(query.order_by(JOBS.c.id)).all())


def remove(session: Session, roots: Collection[str]) -> list[str]:
    """Delete families of jobs with their events. Return the ids of all their jobs."""
    deletion = JOBS.delete().where(or_(JOBS.c.id.in_(roots), JOBS.c.parent_id.in_(roots)))
    return list(session.scalars(deletion.returning(JOBS.c.id)))
