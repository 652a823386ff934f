"""Faults of the database that an operator can mend."""

import errno
import sqlite3

from sqlalchemy.exc import DatabaseError, DBAPIError

from hydrology.base.errors import Problem

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
    """Return whether an error of the system or a driver means a full disk."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None) or getattr(cause, "sqlstate", None)
    return code in (sqlite3.SQLITE_FULL, _POSTGRESQL_FULL)
