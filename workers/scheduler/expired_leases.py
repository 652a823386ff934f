"""Detects expired leases, even if the clock was changed."""

import time
from collections.abc import Sequence
from datetime import datetime

from records.jobs.jobs import Job


class Leases:
    """Leases that have lapsed by the machine's clock, and since when by the monotonic clock.

    A live worker renews its lease four times in its length. If the machine's clock was set, or the database was
    unavailable, it gets the time of two renewals before its job counts as lost.

    Args:
        lease: seconds.
    """

    def __init__(self, lease: float) -> None:
        self._patience = lease / 2
        self._since: dict[tuple[str, int, datetime | None], float] = {}

    def ended(self, lapsed: Sequence[Job]) -> list[Job]:
        """Return the jobs whose lapsed lease was not renewed for long enough."""
        now = time.monotonic()
        self._since = {_lease(job): self._since.get(_lease(job), now) for job in lapsed}
        return [job for job in lapsed if now - self._since[_lease(job)] >= self._patience]

    def forget(self) -> None:
        """Start again: no lease could be renewed meanwhile."""
        self._since.clear()


def _lease(job: Job) -> tuple[str, int, datetime | None]:
    return job.id, job.attempt, job.lease_until
