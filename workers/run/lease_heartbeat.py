"""Heartbeat of a running job: extends the lease, stores the progress, and detects a cancellation."""

import threading
from datetime import timedelta
from types import TracebackType
from typing import Self

import structlog
from sqlalchemy.exc import DBAPIError

from records.database.engine import DatabaseProblem
from records.jobs import jobs
from workers.job import JobContext, Progress

log = structlog.get_logger()


class Heartbeat:
    """A thread with its own session that beats four times per lease.

    Attributes:
        progress: set it, and the next beat writes it.
        cancelled: whether somebody asked to cancel the job.
        stale: whether another attempt has the job by now.
    """

    def __init__(self, tools: JobContext, job: jobs.Job) -> None:
        self.progress: Progress | None = None
        self.cancelled = self.stale = False
        self._tools, self._job = tools, job
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{job.id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        lease = self._tools.settings.lease_seconds
        while not self._stop.wait(lease / 4):
            try:
                self._beat_once(lease)
            except (DBAPIError, DatabaseProblem) as error:  # the database is unavailable: the lease may outlast that
                log.warning("job.heartbeat", job=self._job.id, error=str(getattr(error, "orig", error)))
            except jobs.StaleAttempt:
                self.stale = True
                return

    def _beat_once(self, lease: float) -> None:
        now = self._tools.clock.wall()
        with self._tools.database.transaction() as session:
            self.cancelled = jobs.heartbeat(
                session,
                self._job.id,
                self._job.attempt,
                lease_until=now + timedelta(seconds=lease),
                progress=self.progress,
                at=now,
            )
