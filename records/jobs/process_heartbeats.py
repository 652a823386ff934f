"""Heartbeats of workers and schedulers, whether they have work or not.

They are timed by the database's clock, which all processes share: their own clocks may be wrong.
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
from records.jobs.gpu_state import GPUState
from records.jobs.tables import AttendanceRow

Role = Literal["worker", "scheduler"]

SIGN_EVERY = timedelta(seconds=30)
ABSENT_AFTER = 4 * SIGN_EVERY
"""A process without a heartbeat for this long counts as gone."""
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A live process.

    Attributes:
        queues: the queues that a worker takes jobs from; empty for a scheduler.
        clock_ahead: lead of its own clock over the database's; negative if it is behind.
        trouble: what prevents it from working, in a sentence; None without trouble.
        gpu: of a worker that takes whole trainings.
    """

    role: Role
    queues: Sequence[str]
    clock_ahead: timedelta
    trouble: str | None
    gpu: GPUState | None


def beat(
    session: Session,
    name: str,
    role: Role,
    queues: Sequence[str],
    wall: datetime,
    *,
    trouble: str | None = None,
    gpu: GPUState | None = None,
) -> None:
    """Record a heartbeat, and delete processes that have been gone for long.

    Args:
        wall: the time of its own clock.
    """
    now = _database_now(session)
    seen_at = AttendanceRow.seen_at  # after now: written while the database's own clock was ahead
    session.execute(delete(AttendanceRow).where((seen_at < now - FORGOTTEN_AFTER) | (seen_at > now + ABSENT_AFTER)))
    changing = {
        "queues": list(queues),
        "seen_at": now,
        "clock_ahead_seconds": (wall - now).total_seconds(),
        "trouble": trouble,
        "gpu": gpu,
    }
    insert = insert_into(session, AttendanceRow).values(name=name, role=role, **changing)
    changed = {column: getattr(insert.excluded, column) for column in changing}
    session.execute(insert.on_conflict_do_update(index_elements=["name"], set_=changed))


def remove(session: Session, name: str) -> None:
    """Delete the heartbeat of an ending process."""
    session.execute(delete(AttendanceRow).where(AttendanceRow.name == name))


def live_processes(session: Session) -> list[LiveProcess]:
    """Return the live processes."""
    now = _database_now(session)
    seen = AttendanceRow.seen_at.between(now - ABSENT_AFTER, now + ABSENT_AFTER)
    return [
        LiveProcess(row.role, row.queues, timedelta(seconds=row.clock_ahead_seconds), row.trouble, row.gpu)  # type: ignore[arg-type]
        for row in session.scalars(select(AttendanceRow).where(seen).order_by(AttendanceRow.name))
    ]


def workers_by_queue(processes: Sequence[LiveProcess]) -> dict[str, int]:
    """Return the number of workers by queue. A worker of several queues counts for each."""
    return dict(Counter(queue for process in processes for queue in process.queues))


def gpu_workers(processes: Sequence[LiveProcess]) -> int:
    """Return the number of workers that take whole trainings and whose GPU can be used."""
    return sum(process.gpu is not None and process.gpu.fault is None for process in processes)


def _database_now(session: Session) -> datetime:
    now: datetime | None = session.scalar(select(type_coerce(func.now(), Instant())))
    assert now is not None
    return now
