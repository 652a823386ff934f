"""What every command starts from: the settings, the database and the clock."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from records.clock import Clock
from records.engine import Database, DatabaseProblem
from records.logs import log_to_stderr
from records.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """The settings, the open database, the clock."""

    settings: Settings
    database: Database
    clock: Clock


@contextmanager
def opened(settings: Settings | None = None, *, log_level: str = "warning") -> Iterator[Context]:
    """Open the database that the settings name, at this code's revision.

    Args:
        settings: those of the environment unless given.
        log_level: what is logged unless FRESHET_LOG_LEVEL says otherwise.

    Raises:
        DatabaseProblem: the database cannot be used, now or later on.
    """
    settings = settings or Settings.load()
    log_to_stderr(settings.log_level if "log_level" in settings.model_fields_set else log_level)
    database = Database(settings.database_url)
    try:
        _migrate(database)
        yield Context(settings, database, Clock(settings.as_of))
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseProblem(
            f"The database {database.shown} cannot be used ({' '.join(str(cause).split())}): see that it can be read "
            "and written, restore a backup if it is damaged, or choose another FRESHET_DATA or FRESHET_DATABASE_URL."
        ) from error
    finally:
        database.close()


def _migrate(database: Database) -> None:
    try:
        database.migrate()
    except OSError as error:
        raise DatabaseProblem(
            f"The database {database.shown} cannot be kept there ({error.strerror}: {error.filename}): choose a "
            "folder that can be written with FRESHET_DATA."
        ) from error


def use_threads(count: int | None) -> None:
    """Let torch compute with so many threads, or with one for every core that this process may use."""
    import torch

    # macOS does not tell which cores a process may use.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    torch.set_num_threads(count or cores or 1)
