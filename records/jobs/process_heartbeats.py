"""Which workers and schedulers are there: each says so now and then, whether it has work or none.

When it did so is told by the clock of the database, which all of them share: their own may be wrong.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import delete, func, select, type_coerce
from sqlalchemy.orm import Session

from records.database.base import Instant
from records.database.statements import insert_into
from records.jobs.tables import AttendanceRow

Role = Literal["worker", "scheduler"]

SIGN_EVERY = timedelta(seconds=30)
ABSENT_AFTER = 4 * SIGN_EVERY
"""Without a sign for so long, a process is not there."""
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A process that is there.

    Attributes:
        queues: that a worker takes jobs from; none of a scheduler.
        clock_ahead: by how much its own clock is ahead of the database's; negative where it is behind.
        trouble: what keeps it from its work, in a sentence; None where nothing does.
    """

    role: Role
    queues: Sequence[str]
    clock_ahead: timedelta
    trouble: str | None


def beat(
    session: Session, name: str, role: Role, queues: Sequence[str], wall: datetime, trouble: str | None = None
) -> None:
    """Note that a process is there, and forget those that have long been gone.

    Args:
        wall: what its own clock says.
    """
    now = _database_now(session)
    seen_at = AttendanceRow.seen_at  # after now: while the database's own clock was ahead
    session.execute(delete(AttendanceRow).where((seen_at < now - FORGOTTEN_AFTER) | (seen_at > now + ABSENT_AFTER)))
    changing = {
        "queues": list(queues),
        "seen_at": now,
        "clock_ahead_seconds": (wall - now).total_seconds(),
        "trouble": trouble,
    }
    insert = insert_into(session, AttendanceRow).values(name=name, role=role, **changing)
    changed = {column: getattr(insert.excluded, column) for column in changing}
    session.execute(insert.on_conflict_do_update(index_elements=["name"], set_=changed))


def remove(session: Session, name: str) -> None:
    """Note that a process is there no more."""
    session.execute(delete(AttendanceRow).where(AttendanceRow.name == name))


def live_processes(session: Session) -> list[LiveProcess]:
    """Return the processes that are there."""
    now = _database_now(session)
    seen = AttendanceRow.seen_at.between(now - ABSENT_AFTER, now + ABSENT_AFTER)
    return [
        LiveProcess(row.role, row.queues, timedelta(seconds=row.clock_ahead_seconds), row.trouble)  # type: ignore[arg-type]
        for row in session.scalars(select(AttendanceRow).where(seen).order_by(AttendanceRow.name))
    ]


def workers_by_queue(processes: Sequence[LiveProcess]) -> dict[str, int]:
    """Return how many workers there are, by the queue that they take jobs from; one of several counts for each."""
    return dict(Counter(queue for process in processes for queue in process.queues))


def _database_now(session: Session) -> datetime:
    now: datetime | None = session.scalar(select(type_coerce(func.now(), Instant())))
    assert now is not None
    return now
