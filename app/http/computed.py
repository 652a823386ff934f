"""What answers compute of all basins: once per content of the database."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from records.database.engine import Database

Value = TypeVar("Value")


class Computed:
    """Values by name, each computed again when something has been committed since; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, Lock()
        self._values: dict[Hashable, tuple[object, Any]] = {}

    def get(
        self,
        session: Session,
        name: Hashable,
        compute: Callable[[Value | None], Value],
        holds: Callable[[Value], bool] = bool,
    ) -> Value:
        """Return a value; `compute` gets the one before, which `holds` at this time or not, by default unless empty."""
        with self._lock:
            stamp = self._database.content_stamp(session)  # before anything is read
            computed_at, value = self._values.get(name, (None, None))
            if computed_at != stamp or not holds(value):
                value = compute(value)
                self._values[name] = stamp, value
            found: Value = value
            return found
