"""Jobs as answers show them to a key."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field
from sqlalchemy.orm import Session

from app.http.api_keys import require_owner
from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.dependencies import JobId, Reading
from app.http.problems import Forbidden
from hydrology.base.doc import Why
from jobspec.kinds import KINDS, REQUESTABLE
from records.access.keys import Key
from records.jobs import jobs

Status = Literal["queued", "running", "waiting", "succeeded", "failed", "cancelled"]


class Progress(Model):
    """The progress of a job."""

    done: int
    total: int
    detail: str | None = Field("", description="The current step.")


class Cause(Model):
    """The cause of a failed job."""

    kind: str = Field(description="The kind of problem. It never changes: programs may rely on it.")
    detail: str | None = Field(description="What is wrong, and how to mend it.")


class Job(Model):
    """A job and its state.

    `params`, `result`, `progress.detail` and `problem.detail` may name files and addresses. They are shown to the key
    that posted the job and to an admin; for any other key they are null.
    """

    id: str
    kind: str = Field(
        description="The kind of work. Only the service itself posts "
        f"{', '.join(f'`{kind}`' for kind in KINDS if kind not in REQUESTABLE)}.",
    )
    params: dict[str, Any] | None = Field(description="Its parameters, as posted.")
    status: Status = Field(description="`waiting`: for jobs that it has posted itself.")
    attempt: int = Field(description="Number of times a worker has started it.")
    max_attempts: int = Field(description="Maximum number of starts if workers are lost.")
    progress: Annotated[Progress | None, Why("It has reported none yet.")]
    result: Annotated[dict[str, Any] | None, Why("Only a job that has succeeded has one.")] = Field(
        description="Its output: runs, a version, scores."
    )
    problem: Annotated[Cause | None, Why("Only a job that has failed has one.")]
    parent: Annotated[str | None, Why("No other job has posted it.")] = Field(
        description="The job that has posted it and waits for it."
    )
    schedule: Annotated[str | None, Why("No schedule has posted it.")] = Field(
        description="The schedule that has posted it."
    )
    created_by: Annotated[str | None, Why("The poster is not known.")] = Field(
        description="The name of the key that posted it."
    )
    created_at: datetime
    sent_at: Annotated[
        datetime | None,
        Why(
            "The workers have not been notified since it was last queued: the scheduler does so as soon as the broker "
            "answers."
        ),
    ] = Field(description="When the workers were last notified of it.")
    started_at: Annotated[datetime | None, Why("No worker has started it yet.")]
    cancel_requested_at: Annotated[datetime | None, Why("Nobody has asked it to stop.")]
    finished_at: Annotated[datetime | None, Why("It has not ended yet.")]
    events: str = Field(description="The address of its events.")
    missing: Missing = EXPLAINED


class JobPage(Model):
    """Jobs, the newest first."""

    jobs: list[Job]
    next: str | None = next_page("/v1/jobs?limit=100&after=01a1fa2ab3c4d50b5f2e91")


WITHHELD = "Shown to the key that posted the job and to an admin."


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
    """Require that a key may stop a job; an admin's may any."""
    require_owner(key, jobs.get(session, job).key_id, NotYourJob, f"Job {job}")


def job_answer(job: jobs.Job, key: Key) -> Job:
    """Return the parts of a job visible to `key`."""
    content: dict[str, Any] = {
        "params": job.params,
        "result": job.result,
        "progress": job.progress and Progress.model_validate({"detail": "", **job.progress}),
        "problem": job.problem and Cause.model_validate(job.problem),
    }
    missing = {} if owns(key, job) else _withhold(content)
    return Job.from_records(job, **content, events=f"/v1/jobs/{job.id}/events", missing=missing)


def _withhold(content: dict[str, Any]) -> dict[str, str]:
    missing = {}
    for name in ("params", "result"):
        if content[name] is not None:
            content[name], missing[name] = None, WITHHELD
    for name in ("progress", "problem"):
        if content[name] is not None and content[name].detail:
            content[name] = content[name].model_copy(update={"detail": None})
            missing[f"{name}.detail"] = WITHHELD
    return missing
