"""Events of each job, in order.

The writer of an event locks the job's row until the end of its transaction. So a job's events are numbered in the order
of their commits, and a reader that continues from the last number it saw misses none.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.database.statements import as_record
from records.jobs.job_row import EVENTS, Event, hold, record_event

__all__ = ["Event", "events_after", "log"]


def log(session: Session, job: str, attempt: int, text: str, at: datetime) -> None:
    """Add a line to a running job's log.

    Raises:
        UnknownJob, StaleAttempt: as `jobs.hold`.
    """
    hold(session, job, attempt)
    record_event(session, job, "log", {"text": text}, at)


def events_after(session: Session, job: str, seq: int, limit: int = 100) -> list[Event]:
    """Return a job's events after a number, oldest first. 0 is the start."""
    newer = select(EVENTS).where(EVENTS.c.job_id == job, EVENTS.c.seq > seq)
    return [as_record(Event, row) for row in session.execute(newer.order_by(EVENTS.c.seq).limit(limit))]
