"""Events of each job, in order.

The writer of an event locks the job's row until the end of its transaction. So a job's events are numbered in the order
of their commits, and a reader that continues from the last number it saw misses none.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.database.statements import as_record
from records.jobs.job_row import hold, record_event
from records.jobs.tables import EventRow


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a job.

    Attributes:
        seq: grows with each event, with gaps; ordered by commit within one job only.
        type: `status`, `progress` or `log`.
        data: of a status `{"status", "attempt", "cancel_requested"}` and the `problem` if there is one, of
            progress the last report, of a log line `{"text"}`, and `{"file", "end"}` if it is about a file at which the
            job's process died.
    """

    seq: int
    job_id: str
    at: datetime
    type: str
    data: JsonObject


def log(session: Session, job: str, attempt: int, text: str, at: datetime) -> None:
    """Add a line to a running job's log.

    Raises:
        UnknownJob, StaleAttempt: as `jobs.hold`.
    """
    hold(session, job, attempt)
    record_event(session, job, "log", {"text": text}, at)


def events_after(session: Session, job: str, seq: int, limit: int = 100) -> list[Event]:
    """Return a job's events after a number, oldest first. 0 is the start."""
    query = select(EventRow).where(EventRow.job_id == job, EventRow.seq > seq).order_by(EventRow.seq).limit(limit)
    return [as_record(Event, row) for row in session.scalars(query)]
