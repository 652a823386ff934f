"""Answers about jobs and schedules."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.http.base_schema import Missing, Model, next_page
from jobspec.kinds import KINDS, REQUESTABLE

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
    progress: Progress | None
    result: dict[str, Any] | None = Field(description="Its output: runs, a version, scores.")
    problem: Cause | None
    parent: str | None = Field(description="The job that has posted it and waits for it.")
    schedule: str | None = Field(description="The schedule that has posted it.")
    created_by: str | None = Field(description="The name of the key that posted it.")
    created_at: datetime
    sent_at: datetime | None = Field(description="When the workers were last notified of it.")
    started_at: datetime | None
    cancel_requested_at: datetime | None
    finished_at: datetime | None
    events: str = Field(description="The address of its events.")
    missing: Missing


class JobPage(Model):
    """Jobs, the newest first."""

    jobs: list[Job]
    next: str | None = next_page("/v1/jobs?limit=100&after=01a1fa2ab3c4d50b5f2e91")


class ScheduledJob(Model):
    """The job that a schedule posts."""

    kind: str
    params: dict[str, Any] | None = Field(description="Null except for an admin's key: they may name files.")


class Schedule(Model):
    """A stored schedule and its times."""

    id: str
    name: str
    job: ScheduledJob
    cron: str
    timezone: str
    enabled: bool
    next_run_at: datetime | None = Field(description="Next time, by the machine's clock.")
    last_run_at: datetime | None
    last_job: str | None = Field(description="The last job that it posted.")
    key: str | None = Field(
        description="Id of the key that created or last changed it: its jobs run with the permissions of that key."
    )
    revision: int = Field(description="Grows with every change and every posted job; the basis of the `ETag`.")
    created_at: datetime
    updated_at: datetime = Field(description="When its fields were last changed.")
    missing: Missing


class Schedules(Model):
    """All schedules in the order of their names."""

    schedules: list[Schedule]
