"""The context of every command: settings, database and clock."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError

from freshet.cli.output import inform
from models.devices import use_cores, use_device
from records.database.connections import DatabaseProblem, StorageFull, is_full
from records.database.engine import Database
from records.database.work import Work
from runtime.clock import Clock
from runtime.process import log_to_stderr
from runtime.settings import Settings

if TYPE_CHECKING:
    from records.access import audit


class MayCreateDatabase(Enum):
    """Where a command may create a missing SQLite file; elsewhere a missing file is a mistyped setting."""

    NOWHERE = auto()
    WHERE_EXPECTED = auto()
    """In the default folder, or in a configured folder that exists."""
    ANYWHERE = auto()


@dataclass(frozen=True, slots=True)
class Context(Work):
    """The context of a command's work."""

    def record(self, action: "audit.Action", subject: str, **detail: Any) -> None:
        """Write an audit entry for finished work that ran in its own transactions."""
        from records.access import audit

        with self.database.transaction() as session:
            audit.record(session, audit.command_line(), action, subject, self.clock.wall(), **detail)


@contextmanager
def opened(
    settings: Settings | None = None,
    *,
    reads: bool = False,
    begins: MayCreateDatabase = MayCreateDatabase.NOWHERE,
    log_level: str = "warning",
) -> Iterator[Context]:
    """Open the database that the settings name, at this code's revision.

    Args:
        reads: whether the command only reads: it then does not migrate the tables, does not wait for writers, and
            raises an error if the tables are at another revision.
        begins: where a missing SQLite file is created, which is then reported.
    """
    settings = settings or Settings.load()
    use_cores(cores(settings.cores))
    use_device(settings.device)
    log_to_stderr(settings.log_level if "log_level" in settings.model_fields_set else log_level)
    database = Database.of(settings)
    try:
        if reads:
            database.require_migrated()
        else:
            _prepare(settings, database, begins)
        yield Context(settings, database, Clock(settings.as_of))
    except (DBAPIError, sqlite3.Error) as error:
        if is_full(error):
            raise StorageFull from error
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseProblem(
            f"The database {database.shown} cannot be used ({' '.join(str(cause).split())}): see that it can be read "
            "and written, restore a backup if it is damaged, or choose another FRESHET_DATA or FRESHET_DATABASE_URL."
        ) from error
    finally:
        database.close()


def _prepare(settings: Settings, database: Database, begins: MayCreateDatabase) -> None:
    try:
        missing = database.missing
        if missing:
            _require_new_store_allowed(settings, database, missing, begins)
        before = database.check().revision
        database.migrate()
        database.require_migrated()
        if before not in (None, database.check().revision):
            from records.outlooks import outlooks

            outlooks.write_missing(database)
    except OSError as error:
        raise DatabaseProblem(
            f"The database {database.shown} cannot be stored there ({error.strerror}: {error.filename}): choose a "
            "folder that can be written with FRESHET_DATA."
        ) from error
    if missing:
        inform(f"A new database was created: {database.file}")


def _require_new_store_allowed(settings: Settings, database: Database, missing: str, begins: MayCreateDatabase) -> None:
    if begins is MayCreateDatabase.NOWHERE:
        raise DatabaseProblem(missing)
    assert database.file is not None
    folder, named = database.file.parent, {"data", "database_url"} & settings.model_fields_set
    if begins is MayCreateDatabase.WHERE_EXPECTED and named and not folder.exists():
        raise DatabaseProblem(
            f"{missing} This command also creates it, once the folder exists: mkdir -p {shlex.quote(str(folder))}"
        )


def cores(count: int | None) -> int:
    """Return the number of cores to compute on: `count`, or all that this process may use."""
    # macOS has no call for the cores that a process may use.
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return count or mine or 1
