"""All basins as they stand: read once per content of the database, and again when the clock changes them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.http.computed import Computed
from records.outlooks.overview import BasinOverview, next_change, overview, renewed_at
from records.outlooks.skill import simulation_skill

MAX_DERIVED = 32
Value = TypeVar("Value")


@dataclass(frozen=True)
class Today:
    """All basins, most urgent first, as they stand from an instant until another.

    Attributes:
        renewed_at: when the last of the latest forecasts became available.
        unsorted: the basins as they were read.
    """

    basins: Sequence[BasinOverview]
    begins: datetime
    until: datetime
    renewed_at: datetime | None
    unsorted: Sequence[BasinOverview]
    _lock: Lock = field(default_factory=Lock)
    _derived: LRUCache[Hashable, Any] = field(default_factory=lambda: LRUCache(MAX_DERIVED))

    def derived(self, name: Hashable, derive: Callable[[Sequence[BasinOverview]], Value]) -> Value:
        """Return what follows from these basins alone, derived once."""
        with self._lock:
            found: Value = self._derived.get(name) or derive(self.basins)
            self._derived[name] = found
            return found


def today(session: Session, computed: Computed, at: datetime, *, with_skill: bool = False) -> Today:
    def read(before: Today | None) -> Today:
        found = overview(session, at)
        if with_skill:
            known = simulation_skill(session, {basin.id: basin.version for basin in found if basin.version})
            found = [basin._replace(nse=known.get(basin.id)) for basin in found]
        midnight = datetime.combine(at.date() + timedelta(days=1), time(), UTC)
        until = min(filter(None, (midnight, next_change(session, at))))
        if before is not None and before.unsorted == found:
            return replace(before, begins=at, until=until, renewed_at=renewed_at(session, at))
        basins = sorted(found, key=attrgetter("concern"), reverse=True)
        return Today(basins, at, until, renewed_at(session, at), found)

    return computed.get(session, ("today", with_skill), read, lambda one: one.begins <= at < one.until)
