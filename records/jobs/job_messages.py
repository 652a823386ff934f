"""Messages of queued jobs: whether one was sent to the workers, and when."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.jobs.job_row import JOBS, Job, listed


def unsent(session: Session) -> list[Job]:
    """Return the queued jobs whose message was not sent since they were queued."""
    return listed(session, select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_(None)).order_by(JOBS.c.id))


def sent(session: Session) -> list[Job]:
    """Return the queued jobs whose message was sent, the earliest sent first."""
    query = select(JOBS).where(JOBS.c.status == "queued", JOBS.c.sent_at.is_not(None))
    return listed(session, query.order_by(JOBS.c.sent_at, JOBS.c.id))


def mark_sent(session: Session, job: str, at: datetime) -> None:
    """Record that a queued job's message was sent."""
    session.execute(JOBS.update().where(JOBS.c.id == job, JOBS.c.status == "queued").values(sent_at=at))
