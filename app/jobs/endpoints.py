"""/v1/jobs, with their events as server-sent events [HTML Living Standard, section 9.2]."""

import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio
import anyio.to_thread
import structlog
from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.exc import SQLAlchemyError

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter
from app.http.conditional import NO_STORE, PRIVATE, cached
from app.http.dependencies import JobId, Reading, of_app
from app.http.limits.admission import Admission, RequestAdmission
from app.http.middleware import EVENT_STREAM
from app.http.problems import Overloaded, Unauthorized, documented, documented_writing
from app.jobs import posting
from hydrology.base.errors import NotFound
from jobspec.fields import ID
from jobspec.jobs.training import TrainingTooLarge
from jobspec.kinds import KINDS, REQUESTABLE, AnyJobRequest
from records.database.base import JsonObject
from records.database.engine import Database
from records.job_permissions.permissions import NotAllowed
from records.jobs import attempts, jobs

log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 0.5
LOOKS_PER_SECOND = 50
"""Of all streams of a process: where many are open, each looks less often."""
SECONDS_BETWEEN_HEARTBEATS = 15
MAX_SECONDS = 600
"""After which abandoned connections are closed; a client continues from the last id."""
AT_ONCE = 100


class EventStreams:
    """The event streams of a process."""

    def __init__(self, database: Database) -> None:
        self._database, self._open = database, 0

    async def follow(self, admission: Admission, job: str, after: int, *, whole: bool) -> AsyncIterator[bytes]:
        """Yield a job's events after a number, until the job has ended and all are sent.

        Unless `whole`, the log and every `detail` are left out: they may name files and addresses.
        """
        self._open += 1
        try:
            async for message in self._messages(admission, job, after, whole):
                yield message
        finally:
            self._open -= 1

    async def _messages(self, admission: Admission, job: str, after: int, whole: bool) -> AsyncIterator[bytes]:
        end, heartbeat = time.monotonic() + MAX_SECONDS, 0.0
        while time.monotonic() < end:
            new_events, ended = await self._look(admission, job, after)
            for event in new_events:
                if whole or event.type != "log":
                    yield _message(event, whole)
                after = event.seq
            if ended:
                return
            if not new_events and time.monotonic() >= heartbeat:
                yield format_sse_event(comment="the job goes on")
                heartbeat = time.monotonic() + SECONDS_BETWEEN_HEARTBEATS
            if len(new_events) < AT_ONCE:
                await anyio.sleep(max(SECONDS_BETWEEN_LOOKS, self._open / LOOKS_PER_SECOND))

    async def _look(self, admission: Admission, job: str, after: int) -> tuple[list[jobs.Event], bool]:
        """Return the new events, and whether they are the last ones; none where they cannot be read now."""
        try:
            if not await admission.enter():
                log.warning("events.unread", job=job, error=Overloaded.kind)
                return [], False
            return await anyio.to_thread.run_sync(_new_events, self._database, job, after)
        except SQLAlchemyError as error:
            log.warning("events.unread", job=job, error=type(error).__name__)
            return [], False
        finally:
            admission.leave()


def _new_events(database: Database, job: str, after: int) -> tuple[list[jobs.Event], bool]:
    with database.reading() as session:
        new_events = jobs.events_after(session, job, after, AT_ONCE)
        try:
            ended = jobs.get(session, job).status in jobs.ENDED
        except NotFound:  # it has been pruned meanwhile
            ended = True
    return new_events, ended and len(new_events) < AT_ONCE


def _message(event: jobs.Event, whole: bool) -> bytes:
    content = event.data if whole else _without_detail(event.data)
    data = json.dumps({"at": event.at.isoformat().replace("+00:00", "Z"), **content})
    return format_sse_event(data_str=data, event=event.type, id=str(event.seq))


def _without_detail(content: JsonObject) -> JsonObject:
    return {
        name: _without_detail(value) if isinstance(value, dict) else value
        for name, value in content.items()
        if name != "detail"
    }


router = APIRouter(prefix="/jobs", tags=["jobs"], route_class=KeyFirstRoute)

LARGEST_NUMBER = 2**63 - 1


def _known_kind(kind: str | None) -> str | None:
    if kind not in (None, *KINDS):
        raise PydanticCustomError("kind", "choose one of {kinds}", {"kinds": ", ".join(KINDS)})
    return kind


LastEventId = Annotated[
    int, Header(description="The `id` of the last event that you have seen.", ge=0, le=LARGEST_NUMBER)
]
WithStatus = Annotated[posting.Status | None, Query(description="Only jobs with this status.")]
OfKind = Annotated[
    str | None,
    AfterValidator(_known_kind),
    Query(description="Only jobs of this kind.", json_schema_extra={"enum": list(KINDS)}),
]
OfParent = Annotated[str | None, Query(description="Only jobs that this job has posted.", pattern=ID)]

_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events, until the job has ended and all are sent. Each is some lines and an empty one: "
        "`event: status`, `progress` or `log`; `data: ` and a JSON object; `id: ` and a number.",
        "content": {EVENT_STREAM: {}},  # OpenAPI 3.1 has no schema of a stream
    }
}

_PERIOD = "1999-10-01..2008-09-30"
_WITH_PARAMS: dict[str, dict[str, Any]] = {
    "forecast": {"horizon": 10},
    "daily": {"horizon": 10},
    "ingest": {"source": "camels", "from": ["/srv/camels"]},
    "fetch": {"feed": "usgs-flow"},
    "backfill": {"feed": "ahead", "days": 120},
    "bridge": {"name": "live_as_maurer", "fit": {"from": "live", "to": "maurer_extended"}},
    "fuse": {"name": "maurer_daymet", "of": ["maurer_extended", "daymet"]},
    "replay": {"period": "2008-04-01..2008-04-30"},
    "climate": {"basin": "SYNTH-01"},
    "training": {
        "config": {
            "inputs": {"product": "maurer_extended"},
            "train_period": _PERIOD,
            "validation_period": "1980-10-01..1989-09-30",
        }
    },
    "retraining": {"promote": True},
    "what-if": {"changes": {"degrees": 2.0, "storm": {"mm": 30.0, "lead": 2}}, "note": "A warm storm on the snow?"},
    "volumes": {"season": "04-01..07-31"},
    "evaluation": {"period": "1989-10-01..1999-09-30"},
    "calibration": {"period": "1989-10-01..1999-09-30"},
    "reforecast": {"period": "1989-10-01..1999-09-30", "every": 5},
    "comparison": {
        "period": "1989-10-01..1999-09-30",
        "versions": ["011cb6d0d4209b8d7f6a51", "01a1fa2ab3c4d50b5f2e91"],
    },
    "pretrained": {"promote": True},
}
_REQUESTS = _WITH_PARAMS | {kind: {} for kind in REQUESTABLE if kind not in _WITH_PARAMS}
"""Parameters of a job of each kind, the most common first."""

_EXAMPLES = {
    kind: {
        "summary": " ".join((KINDS[kind].__doc__ or "").partition(".")[0].split()),
        "value": {"kind": kind, "params": params},
    }
    for kind, params in _REQUESTS.items()
}


@router.post(
    "",
    status_code=202,
    summary="Start an ingest, a training, a forecast, an evaluation, a comparison or an installation",
    responses=posting.documented_posting(NotAllowed, TrainingTooLarge),
    openapi_extra={"requestBody": {"content": {"application/json": {"examples": _EXAMPLES}}}},
)
def post_job(poster: posting.JobPoster, new: AnyJobRequest) -> posting.Job:
    """A worker runs the job as soon as one is free: watch `/v1/jobs/{job}` or its events. If the answer gets lost,
    post again with the same `Idempotency-Key`: only one job is created. The guide (Jobs) lists the job kinds that an
    operator's key may post: their results belong to that key, and are never the service's own."""
    return poster.post(new)


@router.get("", summary="List jobs", **documented_list(posting.JobPage, Unauthorized, cache_control=NO_STORE))
def list_jobs(
    key: AnyKey,
    session: Reading,
    page: Annotated[Listing, listing(posting.JobPage)],
    status: WithStatus = None,
    kind: OfKind = None,
    parent: OfParent = None,
) -> Response:
    """Jobs, the newest first, a page at a time: follow `next` until it is null."""
    found = jobs.list_jobs(session, status=status, kind=kind, parent=parent, after=page.after, limit=page.sought)
    return page.of(found, lambda shown: [posting.job_answer(job, key) for job in shown])


@router.get(
    "/{job}",
    summary="Read a job",
    **documented_responses(posting.Job, Unauthorized, jobs.UnknownJob),
    dependencies=[cached(NO_STORE)],
)
def read_job(key: AnyKey, job: posting.StoredJob, answer: JsonAnswer) -> posting.Job | Response:
    """Its parameters, progress, and result or cause of failure. A job that has ended has an `ETag`."""
    shown = posting.job_answer(job, key)
    return answer.of(shown, cache_control=PRIVATE) if shown.status in jobs.ENDED else shown


@router.get(
    "/{job}/events",
    summary="Follow the events of a job",
    responses=_STREAMED | documented(Unauthorized, jobs.UnknownJob),
    response_class=StreamingResponse,
)
def read_job_events(
    streams: Annotated[EventStreams, of_app("event_streams")],
    admission: RequestAdmission,
    key: AnyKey,
    job: posting.StoredJob,
    last_event_id: LastEventId = 0,
) -> StreamingResponse:
    """Server-sent events: `status`, `progress` and `log`, with increasing `id`s. The answer ends with the job, and
    after ten minutes at the latest: continue by sending the last `id` as `Last-Event-ID`. The `log` and every
    `detail` are sent only to the key that posted the job and to an admin. In a browser read it with `fetch`: an
    `EventSource` cannot send the key."""
    events = streams.follow(admission, job.id, last_event_id, whole=posting.owns(key, job))
    return StreamingResponse(events, media_type=EVENT_STREAM, headers={"Cache-Control": NO_STORE})


@router.post(
    "/{job}/cancel",
    summary="Stop a job",
    responses=documented_writing(jobs.UnknownJob, posting.NotYourJob),
    dependencies=[cached(NO_STORE)],
)
def cancel_job(writer: OperatorWriter, job: JobId) -> posting.Job:
    """A job that has not started is cancelled at once, a running one stops at its next heartbeat, and one that has
    ended stays as it is. The jobs that a training has posted are stopped with it. Only the key that posted a job, or
    an admin's, may stop it; a schedule's jobs are an admin's."""
    with writer.database.transaction() as session:
        posting.require_yours(session, writer.key, job)
        cancelled = attempts.request_cancel(session, job, writer.now)
        writer.record(session, "job cancelled", job, status=cancelled.status)
    return posting.job_answer(cancelled, writer.key)
