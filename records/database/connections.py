"""The database's URL, its faults that an operator can mend, and the connections and write lock of SQLite."""

import errno
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from sqlalchemy import URL, Connection, Dialect, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, Problem

_POSTGRESQL_FULL = "53100"
# Errors of an unusable database: SQLAlchemy's, the driver's own while it opens a file, and the folder's; the last one
# occurs if the driver quotes bytes that are not text.
FAULTS = (DatabaseError, sqlite3.DatabaseError, OSError, UnicodeDecodeError)


class DatabaseProblem(Problem):
    """The database cannot be reached, or its tables do not match this code."""

    kind = "database"
    exit_code = 5
    status = 503
    remedy = "Try again shortly. If it lasts, run `freshet doctor` on the service's machine."


class StorageFull(DatabaseProblem):
    """Nothing more can be written: the disk of the database or of the data folder is full."""

    kind = "storage-full"
    status = 507
    remedy = "Free space on the disk of the database and of the data folder (see `/v1/status`), and send it again."

    def __init__(self) -> None:
        super().__init__(
            "Nothing could be written: the disk of the database or of the data folder is full. Free space on it, then "
            "send the same again."
        )


def is_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None) or getattr(cause, "sqlstate", None)
    return code in (sqlite3.SQLITE_FULL, _POSTGRESQL_FULL)


_TRIAL = "SELECT count(*) FROM generate_series(1, 100000)"  # 2 MB in a file of PostgreSQL's own


def storage_fault(session: Session) -> str | None:
    """Try to store some megabytes on PostgreSQL's disk, and return its words if that is full. None on SQLite.

    The trial is a temporary file, for which a reading transaction suffices: no row changes.
    """
    if session.get_bind().dialect.name != "postgresql":
        return None
    trial = session.begin_nested()
    try:
        session.execute(text("SET LOCAL work_mem = '64kB'"))
        session.execute(text(_TRIAL))
    except DBAPIError as error:
        if is_full(error):
            return " ".join(str(error.orig).split())
    finally:
        trial.rollback()
    return None


def parsed_url(url: str) -> URL:
    """Return the parts of a database URL, of SQLite or PostgreSQL alone."""
    try:
        parsed = make_url(url)
        parsed.get_dialect()
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError):
        backend = ""
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:") and not parsed.query:
        return parsed
    raise InvalidInput(
        "The database URL names neither a SQLite file (sqlite:////path/freshet.sqlite, with %3F for a ? in the path) "
        "nor a PostgreSQL database (postgresql://host/name)."
    )


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite database; None for PostgreSQL."""
    parsed = make_url(url)
    return Path(parsed.database).absolute() if parsed.get_backend_name() == "sqlite" and parsed.database else None


def connect_postgresql(
    dialect: Dialect, _record: object, arguments: Sequence[Any], options: Mapping[str, Any]
) -> DBAPIConnection:
    """Connect to PostgreSQL, whose database must be encoded in UTF-8.

    It is checked before anything is read: without an encoding the driver returns bytes in place of text.
    """
    connection: Any = dialect.connect(*arguments, **{**options, "client_encoding": "utf8"})
    encoding, name = connection.info.parameter_status("server_encoding"), connection.info.dbname
    if encoding != "UTF8":
        connection.close()
        raise DatabaseProblem(
            f"The database {name} has the encoding {encoding}, which cannot store every name and "
            "text: create one with CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0, name it in "
            "FRESHET_DATABASE_URL, and bring the data by `freshet backup` and `freshet restore`, or ingest them again."
        )
    return cast(DBAPIConnection, connection)


def open_sqlite(connection: DBAPIConnection, _record: object) -> None:
    # The driver's own transactions begin too late: `begin_sqlite` opens them.
    connection.isolation_level = None
    cursor = connection.cursor()
    # The file may be from elsewhere: functions in its schema are not trusted, and its cells are checked.
    for pragma in ("busy_timeout = 5000", "synchronous = NORMAL", "trusted_schema = OFF", "cell_size_check = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: a reader that turns into a writer could not wait for it.
    options = connection.get_execution_options()
    reads = options.get("freshet_reads", False)
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA query_only = {'ON' if reads else 'OFF'}")
    cursor.execute(f"PRAGMA foreign_keys = {'OFF' if options.get('freshet_migrates') else 'ON'}")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


PATIENCE_SECONDS = 1.0
"""Seconds, longer than the service's own transactions."""


def is_locked(url: str) -> bool:
    """Return whether writing is blocked for that long. Never on PostgreSQL, which locks only rows."""
    if (file := sqlite_file(url)) is None:
        return False
    try:
        with closing(
            sqlite3.connect(f"{file.as_uri()}?mode=rw", timeout=PATIENCE_SECONDS, isolation_level=None, uri=True)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False
