"""Jobs as answers show them to a key, and posting them: stores the request, and notifies the workers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Annotated, Any, Literal

import structlog
from fastapi import Depends, Header, Request, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.http.api_keys import Operator, OperatorWriter, require_owner
from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.conditional import NO_STORE
from app.http.dependencies import JobId, JobSender, Reading, ServiceClock, ServiceSettings
from app.http.problems import Fault, Forbidden, InvalidRequest, UnsupportedMedia, documented_writing, refused
from hydrology.base.doc import Why
from hydrology.base.errors import Problem, printable
from jobspec.fields import form
from jobspec.jobs.base import JobRequest
from jobspec.jobs.training import TrainingJob, require_memory
from jobspec.kinds import KINDS, REQUESTABLE, queue_of
from jobspec.training import TrainingConfig
from records.access.audit import Action, Writer
from records.access.keys import Key
from records.database.checksums import new_id
from records.job_permissions import named_records, permissions
from records.jobs import jobs, queues
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue import uploads
from workers.queue.enqueue import Sender

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
        f"{', '.join(f'`{kind}`' for kind in KINDS if kind not in REQUESTABLE)}."
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


log = structlog.get_logger()

MAX_FILE_NAME = 200

IdempotencyKey = Annotated[
    str | None,
    Header(
        description="A name of your own for this request: repeating it under the same name creates no second job.",
        pattern=form(
            "^[!-~]{1,200}$", "1 to 200 printable characters of ASCII without spaces, such as daily-forecast-2026-11-20"
        ),
        examples=["daily-forecast-2026-11-20"],
    ),
]
_LOCATION = {"Location": {"description": "The address of the job.", "schema": {"type": "string"}}}
_POSTED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Job,
        "description": "A job was posted before with this `Idempotency-Key`: this is its state.",
        "headers": _LOCATION,
    },
    202: {"description": "The job is stored and will be run.", "headers": _LOCATION},
}


def documented_posting(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation that posts a job."""
    return _POSTED | documented_writing(jobs.IdempotencyConflict, queues.TooManyUnfinishedJobs, *problems)


def require_named(session: Session, request: JobRequest, clock: Clock, params: str) -> None:
    """Check that what a request names is stored."""
    if faults := named_records.faults(session, request, clock.now()):
        raise InvalidRequest([Fault(location="body", field=f"{params}.{at}", detail=why) for at, why in faults])


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent: its content, the suffix of its format, and its name for people."""

    content: bytes
    suffix: str
    name: str


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts jobs with the key of a request."""

    writer: Writer
    sender: Sender
    settings: Settings
    clock: Clock
    idempotency_key: str | None
    response: Response

    def post(self, request: JobRequest, action: Action = "job posted") -> Job:
        """Store a job, notify workers after the commit, and return it with the status and headers of the answer."""
        writer, key = self.writer, self.writer.key
        grant = permissions.of_key(key, request)
        if not key.is_admin and isinstance(request, TrainingJob) and isinstance(request.params.config, TrainingConfig):
            require_memory(request.params.config, self.settings.operator_job_bytes)
        new = jobs.NewJob(
            kind=request.kind,
            params=request.stored(),
            queue=queue_of(request.kind, of_service=grant.is_official),
            # Clients and schedules may choose the same idempotency key without meaning the same job.
            idempotency_key=None if self.idempotency_key is None else f"key {key.id} {self.idempotency_key}",
            created_by=key.name,
            key_id=key.id,
        )
        with writer.database.transaction() as session:
            if not jobs.is_posted(session, new.idempotency_key):  # what it creates may be there by now
                permissions.require(session, grant, request)
                require_named(session, request, self.clock, "params")
            job, is_new = jobs.create(session, new, writer.now)
            if is_new:
                queues.require_within_limit(session, key.id, self.settings.unfinished_jobs_per_key)
                writer.record(session, action, job.id, kind=job.kind)
        log.info("job.posted", job=job.id, kind=job.kind, by=key.name, new=is_new)
        if job.status == "queued" and job.sent_at is None:
            self.sender.send(job)
            with writer.database.reading() as session:
                job = jobs.get(session, job.id)
        self.response.headers.update({"Location": f"/v1/jobs/{job.id}", "Cache-Control": NO_STORE})
        self.response.status_code = 202 if is_new else 200
        return job_answer(job, key)

    def post_file(self, upload: Upload, content: str, job_of: Callable[[str, str], JobRequest], action: Action) -> Job:
        """Store a file, and post the job that reads it.

        Args:
            content: what the file holds; files of the same key and content differ by their idempotency key.
            job_of: takes the file's name in the folder of uploads, and the sender's name of it.
        """
        # With an idempotency key, the same request again must name the same file.
        request = f"{self.writer.key.id} {content} {self.idempotency_key or new_id(self.writer.now)}"
        with uploads.stored(self.settings.data, upload.content, upload.suffix, request) as path:
            return self.post(job_of(path.name, upload.name), action)


async def _poster(
    response: Response,
    writer: OperatorWriter,
    sender: JobSender,
    settings: ServiceSettings,
    clock: ServiceClock,
    idempotency_key: IdempotencyKey = None,
) -> Poster:
    return Poster(writer, sender, settings, clock, idempotency_key, response)


JobPoster = Annotated[Poster, Depends(_poster)]


def upload_of(suffixes: Mapping[str, str], *, refusal: str, empty: str) -> Callable[..., Awaitable[Upload]]:
    """Return a dependency that reads the body of an upload: the endpoint writes to disk and may block."""

    async def upload(request: Request, _key: Operator) -> Upload:
        media_type = request.headers.get("Content-Type", "nothing").partition(";")[0].strip().lower()
        if media_type not in suffixes:
            raise UnsupportedMedia(refusal)
        content = await request.body()
        if not content.strip():
            raise refused("", empty, "body")
        suffix = suffixes[media_type]
        return Upload(content, suffix, _name_of(request) or f"upload{suffix}")

    return upload


def _name_of(request: Request) -> str | None:
    header = Message()
    header["Content-Disposition"] = request.headers.get("Content-Disposition", "attachment")
    name = printable(header.get_filename() or "").replace("\\", "/").rpartition("/")[2].strip()
    return name[:MAX_FILE_NAME] or None
