"""All basins as they stand: read again once anything has changed."""

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from operator import attrgetter
from threading import Lock
from typing import Annotated, Any, TypeVar

from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.http.dependencies import of_app
from records.database.engine import Database
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


class AllBasins:
    """All basins of a database: read again once anything has been committed, and each minute; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock, self._read = database, Lock(), dict[object, tuple[object, Today]]()

    def today(self, session: Session, at: datetime, *, with_skill: bool = False) -> Today:
        with self._lock:
            stamp = self._database.content_stamp(session), at.replace(second=0, microsecond=0)  # before all is read
            which = with_skill, session.info["public"]
            read_at, today = self._read.get(which, (None, None))
            if today is None or read_at != stamp:
                found = overview(session, at)
                if with_skill:
                    known = simulation_skill(session, {basin.version for basin in found if basin.version})
                    values = (known.get(basin.version or "", {}).get(basin.id) for basin in found)
                    found = [BasinOverview._make((*basin[:-1], nse)) for basin, nse in zip(found, values, strict=True)]
                today = today if today is not None and today.unsorted == found else Today(found)
                self._read[which] = stamp, today
            return today


Everything = Annotated[AllBasins, of_app("all_basins")]
