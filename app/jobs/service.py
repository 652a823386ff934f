"""Jobs from requests to the records, and back to their answers."""

from typing import Any

import structlog
from sqlalchemy.orm import Session

from app.jobs.schemas import Cause, Job, Progress
from jobspec.kinds import JobRequest
from records import audit, jobs
from records.audit import Action, Actor
from records.clock import Clock
from records.engine import Database
from records.keys import Key
from workers.enqueue import Sender

log = structlog.get_logger()

_SAME = ("id", "kind", "params", "status", "attempt", "max_attempts", "result", "created_by", "created_at", "sent_at")
_MORE = ("started_at", "cancel_requested_at", "finished_at")
WITHHELD = "Shown to the key that posted the job and to an admin."
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
    actor: Actor,
    request: JobRequest,
    idempotency_key: str | None,
    action: Action = "job posted",
) -> tuple[Job, bool]:
    """Keep a job, tell the workers once it is committed, and return it with whether it is new.

    Raises:
        IdempotencyConflict: this key has posted something else under the idempotency key.
    """
    new = jobs.NewJob(
        kind=request.kind,
        params=request.stored(),
        queue=request.queue,
        # One client's idempotency keys are none of another's, nor of the schedules'.
        idempotency_key=None if idempotency_key is None else f"key {key.id} {idempotency_key}",
        created_by=key.name,
        key_id=key.id,
    )
    with database.transaction() as session:
        job, made = jobs.create(session, new, clock.wall())
        if made:
            audit.record(session, actor, action, job.id, clock.wall(), kind=job.kind)
    log.info("job.posted", job=job.id, kind=job.kind, by=key.name, new=made)
    if job.status == "queued" and job.sent_at is None:
        sender.send(job)
        with database.reading() as session:
            job = jobs.get(session, job.id)
    return answer(job, key), made


def page(
    session: Session,
    key: Key,
    *,
    status: str | None,
    kind: str | None,
    parent: str | None,
    after: str | None,
    limit: int,
) -> tuple[list[Job], bool]:
    """Return a page of jobs as `key` may see them, and whether there are more after it."""
    rows = jobs.list_jobs(session, status=status, kind=kind, parent=parent, after=after, limit=limit + 1)
    return [answer(job, key) for job in rows[:limit]], len(rows) > limit


def may_see_all(job: jobs.Job, key: Key) -> bool:
    """Whether a key may see what a job was asked and what it found: it posted the job, or it is an admin's."""
    return key.scope == "admin" or job.key_id == key.id


def answer(job: jobs.Job, key: Key) -> Job:
    """Return what `key` may see of a job."""
    fields: dict[str, Any] = {name: getattr(job, name) for name in (*_SAME, *_MORE)} | {
        "progress": job.progress and Progress.model_validate(job.progress),
        "problem": job.problem and Cause.model_validate(job.problem),
        "parent": job.parent_id,
        "schedule": job.schedule_id,
    }
    missing = {name: why for name, why in _WHY.items() if fields[name] is None}
    if not may_see_all(job, key):
        missing |= _withhold(fields)
    return Job(**fields, events=f"/v1/jobs/{job.id}/events", missing=missing)


def _withhold(fields: dict[str, Any]) -> dict[str, str]:
    """Set to null what only the poster and an admin may see, and return the reason for each field."""
    missing = {}
    for name in ("params", "result"):
        if fields[name] is not None:
            fields[name], missing[name] = None, WITHHELD
    for name in ("progress", "problem"):
        if fields[name] is not None and fields[name].detail:
            fields[name] = fields[name].model_copy(update={"detail": None})
            missing[f"{name}.detail"] = WITHHELD
    return missing
