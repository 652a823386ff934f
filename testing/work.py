"""The context of work in tests and benchmarks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from records.database.engine import Database
from records.database.work import Work
from runtime.clock import Clock
from runtime.settings import Settings

NOW = Clock()


@dataclass(frozen=True, kw_only=True)
class MovedClock(Clock):
    """A clock that a test moves."""

    time: Callable[[], datetime]

    def wall(self) -> datetime:
        return self.time()


def work_of(database: Database, clock: Clock = NOW, settings: Settings | None = None, **chosen: Any) -> Work:
    """Return the context of work on a database, by default with the settings that name it and no other."""
    return Work(settings or Settings(database_url=database.url), database, clock, **chosen)
