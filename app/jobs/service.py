"""Jobs from requests to the records, and back to their answers."""

from typing import Any

import structlog
from sqlalchemy.orm import Session

from app.jobs.schemas import Cause, Job, Progress
from records import jobs
from records.clock import Clock
from records.engine import Database
from records.keys import Key
from workers.enqueue import Sender

log = structlog.get_logger()

_SAME = ("id", "kind", "params", "status", "attempt", "max_attempts", "result", "created_by", "created_at", "sent_at")
_MORE = ("started_at", "cancel_requested_at", "finished_at")
_WHY = {
    "progress": "It has told none yet.",
    "result": "Only a job that has succeeded has one.",
    "problem": "Only a job that has failed has one.",
    "parent": "No other job has posted it.",
    "schedule": "No schedule has posted it.",
    "created_by": "Nobody said who posted it.",
    "sent_at": "The workers could not be told of it since it was last queued: the scheduler tells them as soon as the "
    "broker answers.",
    "started_at": "No worker has begun it yet.",
    "cancel_requested_at": "Nobody has asked it to stop.",
    "finished_at": "It has not ended yet.",
}


def post(
    database: Database,
    sender: Sender,
    clock: Clock,
    key: Key,
    kind: str,
    params: dict[str, Any],
    idempotency_key: str | None,
) -> tuple[Job, bool]:
    """Keep a job, tell the workers once it is committed, and return it with whether it is new.

    Raises:
        IdempotencyConflict: this key has posted something else under the idempotency key.
    """
    new = jobs.NewJob(
        kind=kind,
        params=params,
        queue="default",
        # One client's idempotency keys are none of another's, nor of the schedules'.
        idempotency_key=None if idempotency_key is None else f"key {key.id} {idempotency_key}",
        created_by=key.name,
    )
    with database.transaction() as session:
        job, made = jobs.create(session, new, clock.wall())
    log.info("job.posted", job=job.id, kind=kind, by=key.name, new=made)
    if job.status == "queued" and job.sent_at is None:
        sender.send(job)
        with database.reading() as session:
            job = jobs.get(session, job.id)
    return answer(job), made


def page(
    session: Session, *, status: str | None, kind: str | None, parent: str | None, after: str | None, limit: int
) -> tuple[list[Job], bool]:
    """Return a page of jobs, and whether there are more after it."""
    found = jobs.list_jobs(session, status=status, kind=kind, parent=parent, after=after, limit=limit + 1)
    return [answer(one) for one in found[:limit]], len(found) > limit


def answer(job: jobs.Job) -> Job:
    """Return what is told of a job."""
    told: dict[str, Any] = {name: getattr(job, name) for name in (*_SAME, *_MORE)} | {
        "progress": job.progress and Progress.model_validate(job.progress),
        "problem": job.problem and Cause.model_validate(job.problem),
        "parent": job.parent_id,
        "schedule": job.schedule_id,
    }
    missing = {name: why for name, why in _WHY.items() if told[name] is None}
    return Job(**told, events=f"/v1/jobs/{job.id}/events", missing=missing)
