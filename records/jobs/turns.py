"""Turns: a message in a queue lets a worker run one of its queued jobs, and that is the one whose owner's turn it is.

The service itself, with administrators, is one owner, and each operator's key is another. The service goes first, but
not twice in a row while others wait; of these the one whose last turn was longest ago does. An owner's jobs run in the
order in which they were posted, but the message's own comes first.
"""

from datetime import datetime
from typing import cast

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from records.access import keys
from records.jobs.job_row import JOBS, Job, get

_SERVICE = ""  # keys have longer ids


def next_job(session: Session, message: str) -> str | None:
    """Return the queued job to run now for the message of a job; None if its queue has none.

    Raises:
        UnknownJob, Gone: there is no job of the message, or no more.
    """
    queue = get(session, message).queue
    owner = _next_owner(session, queue)
    if owner is None:
        return None
    own_first = (JOBS.c.id != message, JOBS.c.id)
    waiting = select(JOBS.c.id).where(JOBS.c.queue == queue, JOBS.c.status == "queued", _owner() == owner)
    return session.scalar(waiting.order_by(*own_first).limit(1))


def is_awaited(session: Session, job: Job) -> bool:
    """Return whether another owner has a queued job in the queue of a running one."""
    own = select(_owner()).where(JOBS.c.id == job.id).scalar_subquery()
    others = select(JOBS.c.id).where(JOBS.c.queue == job.queue, JOBS.c.status == "queued", _owner() != own)
    return session.scalar(others.limit(1)) is not None


def _next_owner(session: Session, queue: str) -> str | None:
    columns = (_owner().label("owner"), JOBS.c.id, JOBS.c.status, JOBS.c.claimed_at)
    job = select(*columns).where(JOBS.c.queue == queue).subquery().c
    waiting = select(job.owner, func.min(job.id)).where(job.status == "queued").group_by(job.owner)
    oldest: dict[str, str] = dict(session.execute(waiting).all())
    claimed = select(job.owner, func.max(job.claimed_at)).where(job.claimed_at.is_not(None)).group_by(job.owner)
    turns: dict[str, datetime] = dict(session.execute(claimed).all())
    had_last = max(turns, key=lambda owner: turns[owner], default=None)
    if _SERVICE in oldest and (had_last != _SERVICE or len(oldest) == 1):
        return _SERVICE
    others = oldest.keys() - {_SERVICE}
    return min(others, key=lambda owner: (owner in turns, turns.get(owner), oldest[owner]), default=None)


def _owner() -> ColumnElement[str]:
    return cast(ColumnElement[str], case((keys.official(JOBS.c.key_id), _SERVICE), else_=JOBS.c.key_id))
