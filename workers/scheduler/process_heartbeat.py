"""The signs of life of a worker or a scheduler in the records, for those who watch the service."""

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
"""After a sign that the database did not take."""


class ProcessHeartbeat:
    """Gives signs from a thread of its own, and says goodbye at the end."""

    def __init__(self, tools: JobContext, name: str, role: Role, queues: Sequence[str] = ()) -> None:
        self._tools, self._name, self._role, self._queues = tools, name, role, queues
        self._trouble: str | None = None
        self._ended = False
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._give, name="attendance", daemon=True)

    def report(self, trouble: str | None) -> None:
        """Say at once what keeps the process from its work, in a sentence; None when nothing does any more."""
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
        """Give a sign, and return whether the database took it."""
        try:
            with self._tools.database.transaction() as session:
                wall = self._tools.clock.wall()
                process_heartbeats.beat(session, self._name, self._role, self._queues, wall, self._trouble)
        except (DBAPIError, Problem) as error:  # it is away for a while
            log.warning("attendance.database", error=str(getattr(error, "orig", error)))
            return False
        return True
