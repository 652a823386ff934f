"""Clocks that somebody has set."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from runtime.clock import Clock


@dataclass(frozen=True)
class ClockSetBy(Clock):
    """The machine's clock, set forward by some time; back where that is negative."""

    by: timedelta = timedelta(0)

    def wall(self) -> datetime:
        """Return what it shows."""
        return Clock().wall() + self.by
