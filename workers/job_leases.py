"""Liveness of jobs: the heartbeat that extends a running job's lease, and the leases that have expired."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import DBAPIError

from records.database.connections import DatabaseProblem
from records.database.work import Work
from records.jobs import attempts, jobs, queues
from runtime.watchdog import Repeated
from workers.job import Progress

log = structlog.get_logger()


class Heartbeat(Repeated):
    """Extends the lease of a running job four times in its length, with a session of its own.

    Attributes:
        progress: set it, and the next beat writes it.
        cancelled: whether somebody asked to cancel the job.
        awaited: whether jobs of others wait in its queue.
        stale: whether the worker has lost the job, or can no longer renew it.
    """

    def __init__(self, tools: Work, job: jobs.Job) -> None:
        self.progress: Progress | None = None
        self.cancelled = self.awaited = self.stale = False
        self._tools, self._job, self._lease = tools, job, tools.settings.lease_seconds
        super().__init__(f"heartbeat-{job.id}", self._beat, first=self._lease / 4)

    def _beat(self) -> float | None:
        now = self._tools.clock.wall()
        try:
            with self._tools.database.transaction() as session:
                self.cancelled = attempts.heartbeat(
                    session,
                    self._job.id,
                    self._job.attempt,
                    lease_until=now + timedelta(seconds=self._lease),
                    progress=self.progress,
                    at=now,
                )
                self.awaited = queues.is_awaited(session, self._job)
        except (DBAPIError, DatabaseProblem) as error:  # the database is unavailable: the lease may outlast that
            log.warning("job.heartbeat", job=self._job.id, error=str(getattr(error, "orig", error)))
        except jobs.StaleAttempt:
            self.stale = True
            return None
        except Exception as error:  # without further beats another worker takes the job
            log.error("job.heartbeat_failed", job=self._job.id, exc_info=error)
            self.stale = True
            return None
        return self._lease / 4


class ExpiredLeases:
    """Leases that have lapsed by the machine's clock, and since when by the monotonic clock.

    If the machine's clock was set, or the database was unavailable, a worker gets the time of two heartbeats before its
    job counts as lost.

    Args:
        lease: seconds.
    """

    def __init__(self, lease: float) -> None:
        self._patience = lease / 2
        self._since: dict[tuple[str, int, datetime | None], float] = {}

    def ended(self, lapsed: Sequence[jobs.Job]) -> list[jobs.Job]:
        """Return the jobs whose lapsed lease was not renewed for long enough."""
        now = time.monotonic()
        self._since = {_lease(job): self._since.get(_lease(job), now) for job in lapsed}
        return [job for job in lapsed if now - self._since[_lease(job)] >= self._patience]

    def forget(self) -> None:
        """Start again: no lease could be renewed meanwhile."""
        self._since.clear()


def _lease(job: jobs.Job) -> tuple[str, int, datetime | None]:
    return job.id, job.attempt, job.lease_until
