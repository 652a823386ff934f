"""Streams a job's events as server-sent events [HTML Living Standard, section 9.2].

Each query is a short transaction in a pool thread, for which the request is admitted again; nothing is held between
queries. FastAPI's streaming endpoints are not used: they begin their answer before an unknown job can be refused.
"""

import json
import time
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import structlog
from fastapi.sse import format_sse_event
from sqlalchemy.exc import SQLAlchemyError

from app.http.limits.admission import Admission
from app.http.problems import Overloaded
from hydrology.base.errors import NotFound
from records.database.base import JsonObject
from records.database.engine import Database
from records.jobs import jobs

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
            await admission.enter()
            return await anyio.to_thread.run_sync(_new_events, self._database, job, after)
        except (SQLAlchemyError, Overloaded) as error:
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
