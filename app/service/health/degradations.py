"""Cached degradation codes for readiness."""

import threading
import time

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.service.status import job_degradations
from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings

log = structlog.get_logger()

REMEMBERED_SECONDS = 5.0
"""Readiness has no rate limit, and each check takes the write lock and a broker connection."""


class Hindered:
    """Checks for degradations at most once in some seconds, and caches the result."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._looked_at: float | None = None
        self._codes: list[str] = []

    def codes(self, database: Database, clock: Clock, settings: Settings) -> list[str]:
        """Return the sorted codes of `/v1/status` about jobs; if the check fails, the last ones."""
        if self._looking.acquire(blocking=False):
            try:
                if self._looked_at is None or time.monotonic() - self._looked_at >= REMEMBERED_SECONDS:
                    self._looked_at = time.monotonic()  # a failed check counts too
                    self._codes = _found(database, clock, settings)
            except (SQLAlchemyError, ValueError, OSError) as error:
                log.warning("health.hindered", error=type(error).__name__)
            finally:
                self._looking.release()
        return self._codes


def _found(database: Database, clock: Clock, settings: Settings) -> list[str]:
    with database.reading() as session:
        codes = {each.code for each in job_degradations.of_jobs(session, clock.wall())}
    return sorted(codes | {each.code for each in job_degradations.of_machine(settings)})
