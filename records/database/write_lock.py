"""Checks for a long-held SQLite write lock."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import make_url

PATIENCE_SECONDS = 1.0
"""Seconds, longer than the service's own transactions."""


def is_locked(url: str) -> bool:
    """Return whether writing is blocked for that long. Never on PostgreSQL, which locks only rows."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return False
    file = f"{Path(parsed.database).absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(file, timeout=PATIENCE_SECONDS, isolation_level=None, uri=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False
