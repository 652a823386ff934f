"""/v1/jobs"""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from app.http.api_keys import AnyKey, By, Operator
from app.http.conditional import NOT_MODIFIED, PRIVATE, IfNoneMatch, tagged
from app.http.dependencies import (
    IdCursor,
    JobId,
    JobSender,
    OpenDatabase,
    PageLimit,
    Reading,
    ServiceClock,
    ServiceSettings,
)
from app.http.media_types import EVENT_STREAM
from app.http.pagination import next_page
from app.http.problems import documented_keyed, documented_writing
from app.jobs import service, stream
from app.jobs.requests import REQUESTS
from app.jobs.schemas import Job, JobPage, Status
from app.jobs.service import NotYourJob
from jobspec.fields import ID
from jobspec.kinds import KINDS, AnyJobRequest
from records.authority.permissions import NotAllowed
from records.jobs import jobs
from records.jobs.job_limits import TooManyUnfinishedJobs
from records.jobs.jobs import ENDED, IdempotencyConflict, UnknownJob

router = APIRouter(prefix="/jobs", tags=["jobs"])

LARGEST_NUMBER = 2**63 - 1


def _known_kind(kind: str | None) -> str | None:
    if kind not in (None, *KINDS):
        raise PydanticCustomError("kind", "choose one of {kinds}", {"kinds": ", ".join(KINDS)})
    return kind


IdempotencyKey = Annotated[
    str | None,
    Header(
        description="A name of your own for this request: repeating it under the same name creates no second job.",
        pattern="^[!-~]{1,200}$",
        examples=["daily-forecast-2026-11-20"],
    ),
]
LastEventId = Annotated[
    int, Header(description="The `id` of the last event that you have seen.", ge=0, le=LARGEST_NUMBER)
]
WithStatus = Annotated[Status | None, Query(description="Only jobs with this status.")]
OfKind = Annotated[
    str | None,
    AfterValidator(_known_kind),
    Query(description="Only jobs of this kind.", json_schema_extra={"enum": list(KINDS)}),
]
OfParent = Annotated[str | None, Query(description="Only jobs that this job has posted.", pattern=ID)]

_LOCATION = {"Location": {"description": "The address of the job.", "schema": {"type": "string"}}}
POSTED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Job,
        "description": "A job was posted before with this `Idempotency-Key`: this is its state.",
        "headers": _LOCATION,
    },
    202: {"description": "The job is stored and will be run.", "headers": _LOCATION},
}
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"enum": ["status", "progress", "log"]},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
    },
    "required": ["id", "event", "data"],
}
_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events, until the job has ended and all are sent.",
        "content": {EVENT_STREAM: {"itemSchema": _EVENT}},
    }
}

_EXAMPLES = {
    kind: {
        "summary": " ".join((KINDS[kind].__doc__ or "").partition(".")[0].split()),
        "value": {"kind": kind, "params": params},
    }
    for kind, params in REQUESTS.items()
}


@router.post(
    "",
    status_code=202,
    summary="Start an ingest, a training, a forecast, an evaluation, a comparison or an installation",
    responses=POSTED | documented_writing(NotAllowed, IdempotencyConflict, TooManyUnfinishedJobs),
    openapi_extra={"requestBody": {"content": {"application/json": {"examples": _EXAMPLES}}}},
)
def post_job(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    sender: JobSender,
    clock: ServiceClock,
    settings: ServiceSettings,
    new: AnyJobRequest,
    idempotency_key: IdempotencyKey = None,
) -> Job:
    """A worker runs the job as soon as one is free: watch `/v1/jobs/{job}` or its events. If the answer gets lost,
    post again with the same `Idempotency-Key`: only one job is created. The guide (Jobs) lists the job kinds that an
    operator's key may post: their results belong to that key, and are never the service's own."""
    maximum = settings.unfinished_jobs_per_key
    job, is_new = service.post(
        database, sender, clock, key, new, actor=actor, idempotency_key=idempotency_key, most_unfinished=maximum
    )
    return posted(response, job, is_new)


def posted(response: Response, job: Job, is_new: bool) -> Job:
    """Return a job after setting the status and the headers of the answer to its posting."""
    response.headers.update({"Location": f"/v1/jobs/{job.id}", "Cache-Control": "no-store"})
    response.status_code = 202 if is_new else 200
    return job


@router.get("", summary="List jobs", responses=documented_keyed())
def list_jobs(
    request: Request,
    response: Response,
    key: AnyKey,
    session: Reading,
    status: WithStatus = None,
    kind: OfKind = None,
    parent: OfParent = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> JobPage:
    """Jobs, the newest first, a page at a time: follow `next` until it is null."""
    page, more = service.page(session, key, status=status, kind=kind, parent=parent, after=after, limit=limit)
    response.headers["Cache-Control"] = "no-store"
    query = {"status": status, "kind": kind, "parent": parent, "limit": limit}
    following = next_page(request, response, query, page[-1].id if more else None)
    return JobPage(jobs=page, next=following)


@router.get(
    "/{job}",
    summary="Read a job",
    responses=NOT_MODIFIED | documented_keyed(UnknownJob),
    response_model=Job,
)
def read_job(
    session: Reading, key: AnyKey, response: Response, job: JobId, if_none_match: IfNoneMatch = None
) -> Job | Response:
    """Its parameters, progress, and result or cause of failure. A job that has ended has an `ETag`."""
    answer = service.answer(jobs.get(session, job), key)
    if answer.status in ENDED:
        return tagged(answer, response, if_none_match, PRIVATE)
    response.headers["Cache-Control"] = "no-store"
    return answer


@router.get(
    "/{job}/events",
    summary="Follow the events of a job",
    responses=_STREAMED | documented_keyed(UnknownJob),
    response_class=StreamingResponse,
)
def read_job_events(
    session: Reading, database: OpenDatabase, key: AnyKey, job: JobId, last_event_id: LastEventId = 0
) -> StreamingResponse:
    """Server-sent events: `status`, `progress` and `log`, with increasing `id`s. The answer ends with the job, and
    after ten minutes at the latest: continue by sending the last `id` as `Last-Event-ID`. The `log` and every
    `detail` are sent only to the key that posted the job and to an admin. In a browser read it with `fetch`: an
    `EventSource` cannot send the key."""
    whole = service.owns(key, jobs.get(session, job))
    events = stream.event_stream(database, job, last_event_id, whole=whole)
    return StreamingResponse(events, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})


@router.post("/{job}/cancel", summary="Stop a job", responses=documented_writing(UnknownJob, NotYourJob))
def cancel_job(
    response: Response, key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, job: JobId
) -> Job:
    """A job that has not started is cancelled at once, a running one stops at its next heartbeat, and one that has
    ended stays as it is. The jobs that a training has posted are stopped with it. Only the key that posted a job, or
    an admin's, may stop it; a schedule's jobs are an admin's."""
    response.headers["Cache-Control"] = "no-store"
    return service.cancel(database, clock, key, actor, job)
