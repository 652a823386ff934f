"""Streams a job's events as server-sent events [HTML Living Standard, section 9.2].

Each query is a short transaction in a pool thread; neither is held between queries. FastAPI writes
the events; its streaming endpoints are not used, for they begin their answer before an unknown job can be refused.
"""

import json
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import structlog
from fastapi.sse import format_sse_event
from sqlalchemy.exc import SQLAlchemyError

from hydrology.base.errors import NotFound
from records.database.base import JsonObject
from records.database.engine import Database
from records.jobs import events, jobs

log = structlog.get_logger()

SECONDS_BETWEEN_LOOKS = 0.5
LOOKS_BETWEEN_HEARTBEATS = 30
MAX_LOOKS = 1200
"""Ten minutes, to close abandoned connections; a client continues from the last id."""
AT_ONCE = 100


async def event_stream(database: Database, job: str, after: int, *, whole: bool) -> AsyncIterator[bytes]:
    """Yield a job's events after a number, until the job has ended and all are sent.

    Unless `whole`, the log and every `detail` are left out: they may name files and addresses.
    """
    for look in range(MAX_LOOKS):
        try:
            new_events, ended = await anyio.to_thread.run_sync(_look, database, job, after)
        except SQLAlchemyError as error:
            log.warning("events.database", job=job, error=type(error).__name__)
            new_events, ended = [], False
        for event in new_events:
            if whole or event.type != "log":
                yield _message(event, whole)
            after = event.seq
        if ended:
            return
        if not new_events and look % LOOKS_BETWEEN_HEARTBEATS == 0:
            yield format_sse_event(comment="the job goes on")
        if len(new_events) < AT_ONCE:
            await anyio.sleep(SECONDS_BETWEEN_LOOKS)


def _look(database: Database, job: str, after: int) -> tuple[list[events.Event], bool]:
    """Return the new events, and whether they are the last ones."""
    with database.reading() as session:
        new_events = events.events_after(session, job, after, AT_ONCE)
        try:
            ended = jobs.get(session, job).status in jobs.ENDED
        except NotFound:  # it has been pruned meanwhile
            ended = True
    return new_events, ended and len(new_events) < AT_ONCE


def _message(event: events.Event, whole: bool) -> bytes:
    content = event.data if whole else _without_detail(event.data)
    data = json.dumps({"at": event.at.isoformat().replace("+00:00", "Z"), **content})
    return format_sse_event(data_str=data, event=event.type, id=str(event.seq))


def _without_detail(content: JsonObject) -> JsonObject:
    return {
        name: _without_detail(value) if isinstance(value, dict) else value
        for name, value in content.items()
        if name != "detail"
    }
