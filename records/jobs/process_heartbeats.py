"""Heartbeats of workers and schedulers, whether they have work or not.

They are timed by the database's clock, which all processes share: their own clocks may be wrong.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import func, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from records.database.base import Instant, document
from records.database.stored import read, stored, table_of, upsert

Role = Literal["worker", "scheduler"]

SIGN_EVERY = timedelta(seconds=30)
ABSENT_AFTER = 4 * SIGN_EVERY
"""A process without a heartbeat for this long counts as gone."""
FORGOTTEN_AFTER = timedelta(days=1)


@document
class GPUState:
    """The GPU of a worker.

    Attributes:
        device: its name for torch, such as `cuda:0`.
        memory, memory_used: bytes; the latter by any process.
        utilisation: share of the last moments in which it computed, 0 to 1.
        fault: why it cannot be used, in a sentence; None while it can.
    """

    device: str
    id: str | None = None
    name: str | None = None
    memory: int | None = None
    memory_used: int | None = None
    utilisation: float | None = None
    unread: Absent | None = None
    fault: str | None = None


@stored("attendance", key=("name",))
class LiveProcess:
    """A process that has sent a heartbeat.

    `clock_ahead_seconds` is the lead of its own clock over the database's; negative if it is behind. A scheduler has no
    `queues`, and only a worker that takes whole trainings a `gpu`.
    """

    name: str
    role: Role
    queues: tuple[str, ...]
    seen_at: datetime
    clock_ahead_seconds: float
    trouble: str | None = None
    gpu: GPUState | None = None

    @property
    def machine(self) -> str:
        """The name of its machine, which its own begins with."""
        return self.name.split(":")[0]

    @property
    def clock_ahead(self) -> timedelta:
        return timedelta(seconds=self.clock_ahead_seconds)


ATTENDANCE = table_of(LiveProcess)


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
    now = _database_now(session)
    seen_at = ATTENDANCE.c.seen_at  # after now: written while the database's own clock was ahead
    gone = (seen_at < now - FORGOTTEN_AFTER) | (seen_at > now + ABSENT_AFTER)
    session.execute(ATTENDANCE.delete().where(gone))
    values = {"queues": tuple(queues), "seen_at": now, "clock_ahead_seconds": (wall - now).total_seconds()}
    upsert(session, LiveProcess, [{"name": name, "role": role, **values, "trouble": trouble, "gpu": gpu}])


def remove(session: Session, name: str) -> None:
    session.execute(ATTENDANCE.delete().where(ATTENDANCE.c.name == name))


def live_processes(session: Session) -> list[LiveProcess]:
    now = _database_now(session)
    seen = ATTENDANCE.c.seen_at.between(now - ABSENT_AFTER, now + ABSENT_AFTER)
    return read(session, LiveProcess, select(ATTENDANCE).where(seen).order_by(ATTENDANCE.c.name))


def workers_by_queue(processes: Sequence[LiveProcess]) -> dict[str, int]:
    return dict(Counter(queue for process in processes for queue in process.queues))


def gpu_workers(processes: Sequence[LiveProcess]) -> int:
    """Return the number of workers that take whole trainings and whose GPU can be used."""
    return sum(process.gpu is not None and process.gpu.fault is None for process in processes)


def _database_now(session: Session) -> datetime:
    now: datetime | None = session.scalar(select(type_coerce(func.now(), Instant())))
    assert now is not None
    return now
