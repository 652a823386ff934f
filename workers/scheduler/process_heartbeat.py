"""Heartbeats of a worker or a scheduler in the database, for monitoring."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

import structlog
from sqlalchemy.exc import DBAPIError

from hydrology.base.errors import Problem
from records.jobs import process_heartbeats
from records.jobs.process_heartbeats import Role
from workers.job import JobContext

log = structlog.get_logger()

AGAIN_SECONDS = 1.0
"""Seconds until the next heartbeat after the database refused one."""


class ProcessHeartbeat:
    """Sends heartbeats from a separate thread, and removes them at the end."""

    def __init__(self, tools: JobContext, name: str, role: Role, queues: Sequence[str] = ()) -> None:
        self._tools, self._name, self._role, self._queues = tools, name, role, queues
        self._trouble: str | None = None
        self._ended = False
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._give, name="attendance", daemon=True)

    def report(self, trouble: str | None) -> None:
        """Report at once what prevents the process from working, in a sentence. None once it can work again."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._changed.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._changed.set()
        self._thread.join()
        with suppress(DBAPIError, Problem), self._tools.database.transaction() as session:
            process_heartbeats.remove(session, self._name)

    def _give(self) -> None:
        while not self._ended:
            self._changed.wait(process_heartbeats.SIGN_EVERY.total_seconds() if self._sign() else AGAIN_SECONDS)
            self._changed.clear()

    def _sign(self) -> bool:
        """Send a heartbeat, and return whether the database accepted it."""
        try:
            with self._tools.database.transaction() as session:
                wall = self._tools.clock.wall()
                process_heartbeats.beat(session, self._name, self._role, self._queues, wall, self._trouble)
        except (DBAPIError, Problem) as error:  # it is unavailable for a while
            log.warning("attendance.database", error=str(getattr(error, "orig", error)))
            return False
        return True
