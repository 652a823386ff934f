"""Which workers are there: each says so now and then, whether it has a job or none."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from records.statements import insert_into
from records.tables.workers import WorkerRow

SIGN_EVERY = timedelta(seconds=30)
ABSENT_AFTER = 4 * SIGN_EVERY
"""Without a sign for so long, a worker is not there."""
FORGOTTEN_AFTER = timedelta(days=1)


def sign(session: Session, worker: str, queues: Sequence[str], at: datetime) -> None:
    """Note that a worker is there, and forget those that have long been gone."""
    session.execute(delete(WorkerRow).where(WorkerRow.seen_at < at - FORGOTTEN_AFTER))
    insert = insert_into(session, WorkerRow).values(name=worker, queues=list(queues), seen_at=at)
    changed = {name: getattr(insert.excluded, name) for name in ("queues", "seen_at")}
    session.execute(insert.on_conflict_do_update(index_elements=["name"], set_=changed))


def leave(session: Session, worker: str) -> None:
    """Note that a worker is there no more."""
    session.execute(delete(WorkerRow).where(WorkerRow.name == worker))


def by_queue(session: Session, at: datetime) -> dict[str, int]:
    """Return how many workers are there, by the queue that they take jobs from; one of several counts for each."""
    present = session.scalars(select(WorkerRow.queues).where(WorkerRow.seen_at > at - ABSENT_AFTER))
    return dict(Counter(queue for queues in present for queue in queues))
