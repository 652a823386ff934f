"""The context of the worker and the scheduler."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from records.database.engine import Database
from records.database.work import Work
from runtime.clock import Clock
from runtime.settings import Settings
from workers.queue.enqueue import Sender


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext(Work):
    """The context of jobs, and a sender of jobs to the workers."""

    sender: Sender


@contextmanager
def tools_of(settings: Settings, clock: Clock | None = None) -> Iterator[WorkerContext]:
    """Open the database and the broker, and close them at the end.

    Args:
        clock: replaces that of the settings.
    """
    database, clock = Database.of(settings), clock or Clock(settings.as_of)
    sender = Sender(settings, database, clock)
    try:
        yield WorkerContext(settings, database, clock, sender=sender)
    finally:
        sender.close()
        database.close()
