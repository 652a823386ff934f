"""All basins as they stand: read again when anything has changed."""

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from operator import attrgetter
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.http.conditional import Computed
from records.outlooks.overview import BasinOverview, overview
from records.outlooks.skill import simulation_skill

MAX_DERIVED = 32
Value = TypeVar("Value")


class Today:
    """All basins, most urgent first, and what follows from them."""

    def __init__(self, unsorted: Sequence[BasinOverview]) -> None:
        self.unsorted, self.basins = unsorted, sorted(unsorted, key=attrgetter("concern"), reverse=True)
        self._derived, self._lock = LRUCache[Hashable, Any](MAX_DERIVED), Lock()

    def derived(self, name: Hashable, derive: Callable[[Sequence[BasinOverview]], Value]) -> Value:
        """Return what follows from these basins alone, derived once."""
        with self._lock:
            if name not in self._derived:
                self._derived[name] = derive(self.basins)
            found: Value = self._derived[name]
            return found


def today(session: Session, computed: Computed, at: datetime, *, with_skill: bool = False) -> Today:
    def read(before: Today | None) -> Today:
        found = overview(session, at)
        if with_skill:
            known = simulation_skill(session, {basin.id: basin.version for basin in found if basin.version})
            found = [basin._replace(nse=known.get(basin.id)) for basin in found]
        return before if before is not None and before.unsorted == found else Today(found)

    return computed.get(session, at, f"today, skill: {with_skill}", read)
