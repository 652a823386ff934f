"""Stores requested jobs, and builds the answers about jobs."""

from dataclasses import fields
from typing import Any

import structlog
from sqlalchemy.orm import Session

from app.http.problems import Forbidden
from app.jobs.schemas import Cause, Job, Progress
from jobspec.jobs.base import JobRequest
from jobspec.kinds import queue_of
from records.access import audit
from records.access.audit import Action, Actor
from records.access.keys import Key
from records.authority import permissions
from records.database.engine import Database
from records.jobs import attempts, job_limits, jobs
from runtime.clock import Clock
from workers.queue.enqueue import Sender

log = structlog.get_logger()

_COPIED = Job.model_fields.keys() & {field.name for field in fields(jobs.Job)}
WITHHELD = "Shown to the key that posted the job and to an admin."
_REASONS = {
    "progress": "It has reported none yet.",
    "result": "Only a job that has succeeded has one.",
    "problem": "Only a job that has failed has one.",
    "parent": "No other job has posted it.",
    "schedule": "No schedule has posted it.",
    "created_by": "The poster is not known.",
    "sent_at": "The workers have not been notified since it was last queued: the scheduler does so as soon as "
    "the broker answers.",
    "started_at": "No worker has started it yet.",
    "cancel_requested_at": "Nobody has asked it to stop.",
    "finished_at": "It has not ended yet.",
}


class NotYourJob(Forbidden):
    """The job belongs to another key or to a schedule."""

    kind = "not-your-job"


def post(
    database: Database,
    sender: Sender,
    clock: Clock,
    key: Key,
    request: JobRequest,
    *,
    actor: Actor,
    idempotency_key: str | None,
    most_unfinished: int,
    action: Action = "job posted",
) -> tuple[Job, bool]:
    """Store a job, notify workers after the commit, and return whether it is new.

    Raises:
        NotAllowed: the key may not post such a job.
        IdempotencyConflict: this key has posted another request with the idempotency key.
        TooManyUnfinishedJobs: an operator's key has more unfinished jobs with it than `most_unfinished`.
    """
    new = jobs.NewJob(
        kind=request.kind,
        params=request.stored(),
        queue=queue_of(request.kind, of_service=key.is_admin),
        # Clients and schedules may choose the same idempotency key without meaning the same job.
        idempotency_key=None if idempotency_key is None else f"key {key.id} {idempotency_key}",
        created_by=key.name,
        key_id=key.id,
    )
    with database.transaction() as session:
        permissions.require(session, permissions.of_key(key), request)
        job, is_new = jobs.create(session, new, clock.wall())
        if is_new:
            job_limits.require_within_limit(session, key.id, most_unfinished)
            audit.record(session, actor, action, job.id, clock.wall(), kind=job.kind)
    log.info("job.posted", job=job.id, kind=job.kind, by=key.name, new=is_new)
    if job.status == "queued" and job.sent_at is None:
        sender.send(job)
        with database.reading() as session:
            job = jobs.get(session, job.id)
    return answer(job, key), is_new


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
    """Return a page of jobs as visible to `key`, and whether more follow."""
    rows = jobs.list_jobs(session, status=status, kind=kind, parent=parent, after=after, limit=limit + 1)
    return [answer(job, key) for job in rows[:limit]], len(rows) > limit


def owns(key: Key, job: jobs.Job) -> bool:
    """Return whether a key may see all of a job and stop it: it posted the job, or it is an admin's."""
    return key.is_admin or job.key_id == key.id


def cancel(database: Database, clock: Clock, key: Key, actor: Actor, job: str) -> Job:
    """Cancel a waiting job, or ask a running one to stop.

    Raises:
        UnknownJob: there is none of that id.
        NotYourJob: another key or a schedule posted it, and this is not an admin's key.
    """
    with database.transaction() as session:
        if not owns(key, jobs.get(session, job)):
            raise NotYourJob(
                f"Job {job} was not posted with the key of {key.name}: use the key that did, or an admin's."
            )
        cancelled = attempts.request_cancel(session, job, clock.wall())
        audit.record(session, actor, "job cancelled", job, clock.wall(), status=cancelled.status)
    return answer(cancelled, key)


def answer(job: jobs.Job, key: Key) -> Job:
    """Return the parts of a job visible to `key`."""
    content: dict[str, Any] = {name: getattr(job, name) for name in _COPIED} | {
        "progress": job.progress and Progress.model_validate(job.progress),
        "problem": job.problem and Cause.model_validate(job.problem),
        "parent": job.parent_id,
        "schedule": job.schedule_id,
    }
    missing = {name: reason for name, reason in _REASONS.items() if content[name] is None}
    if not owns(key, job):
        missing |= _withhold(content)
    return Job(**content, events=f"/v1/jobs/{job.id}/events", missing=missing)


def _withhold(content: dict[str, Any]) -> dict[str, str]:
    """Withhold fields that only the poster and admins may see, and return the reasons."""
    missing = {}
    for name in ("params", "result"):
        if content[name] is not None:
            content[name], missing[name] = None, WITHHELD
    for name in ("progress", "problem"):
        if content[name] is not None and content[name].detail:
            content[name] = content[name].model_copy(update={"detail": None})
            missing[f"{name}.detail"] = WITHHELD
    return missing
