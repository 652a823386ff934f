"""Posts jobs: stores the request, sets the headers of the answer, and notifies the workers."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Annotated, Any

import structlog
from fastapi import Depends, Header, Request, Response
from sqlalchemy.orm import Session

from app.http.api_keys import Operator, OperatorWriter
from app.http.conditional import NO_STORE
from app.http.dependencies import JobSender, ServiceClock, ServiceSettings
from app.http.problems import Fault, InvalidRequest, UnsupportedMedia, documented_writing, refused
from app.jobs.answers import Job, job_answer
from hydrology.base.errors import Problem, printable
from jobspec.fields import form
from jobspec.jobs.base import JobRequest
from jobspec.jobs.training import TrainingJob, require_memory
from jobspec.kinds import queue_of
from jobspec.training import TrainingConfig
from records.access.audit import Action, Writer
from records.database.checksums import new_id
from records.job_permissions import named_records, permissions
from records.jobs import jobs, queues
from records.jobs.jobs import IdempotencyConflict
from records.jobs.queues import TooManyUnfinishedJobs
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue import uploads
from workers.queue.enqueue import Sender

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
    return _POSTED | documented_writing(IdempotencyConflict, TooManyUnfinishedJobs, *problems)


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
        if not key.is_admin and isinstance(request, TrainingJob) and isinstance(request.params.config, TrainingConfig):
            require_memory(request.params.config, self.settings.operator_job_bytes)
        new = jobs.NewJob(
            kind=request.kind,
            params=request.stored(),
            queue=queue_of(request.kind, of_service=key.is_admin),
            # Clients and schedules may choose the same idempotency key without meaning the same job.
            idempotency_key=None if self.idempotency_key is None else f"key {key.id} {self.idempotency_key}",
            created_by=key.name,
            key_id=key.id,
        )
        with writer.database.transaction() as session:
            if not jobs.is_posted(session, new.idempotency_key):  # what it creates may be there by now
                permissions.require(session, permissions.of_key(key), request)
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
