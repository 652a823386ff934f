"""Builds the answers about jobs."""

from dataclasses import fields
from typing import Annotated, Any

from fastapi import Depends
from sqlalchemy.orm import Session

from app.http.api_keys import require_owner
from app.http.base_schema import why_null
from app.http.dependencies import JobId, Reading
from app.http.problems import Forbidden
from app.jobs.schemas import Cause, Job, Progress
from records.access.keys import Key
from records.jobs import jobs

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


def _stored(session: Reading, job: JobId) -> jobs.Job:
    return jobs.get(session, job)


StoredJob = Annotated[jobs.Job, Depends(_stored)]


def owns(key: Key, job: jobs.Job) -> bool:
    """Return whether a key may see all of a job and stop it: it posted the job, or it is an admin's."""
    return key.is_admin or job.key_id == key.id


def require_yours(session: Session, key: Key, job: str) -> None:
    """Require that a key may stop a job.

    Raises:
        UnknownJob: there is none of that id.
        NotYourJob: another key or a schedule posted it, and this is not an admin's key.
    """
    require_owner(key, jobs.get(session, job).key_id, NotYourJob, f"Job {job}")


def answer(job: jobs.Job, key: Key) -> Job:
    """Return the parts of a job visible to `key`."""
    content: dict[str, Any] = {name: getattr(job, name) for name in _COPIED} | {
        "progress": job.progress and Progress.model_validate({"detail": "", **job.progress}),
        "problem": job.problem and Cause.model_validate(job.problem),
        "parent": job.parent_id,
        "schedule": job.schedule_id,
    }
    missing = why_null(content, _REASONS)
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
