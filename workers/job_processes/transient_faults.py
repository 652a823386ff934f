"""Transient faults that stop a job through no fault of its own: a full disk, an unavailable or locked database."""

import sqlite3
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError, OperationalError

from records.database.connections import DatabaseProblem, is_full

_FULL = "The disk is full: the job is tried again until there is room."
_AWAY = "The database cannot be used: the job is tried again until it is available."

_SQLITE_AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_POSTGRESQL_AWAY = ("08", "25P03", "40", "53", "55", "57", "58")
"""Classes of SQLSTATE: connections, transactions (and one that paused too long), resources, states of objects,
operators, the system."""


def hindrance(error: BaseException) -> str | None:
    """Return a sentence on the transient fault behind an error. None if it is not transient."""
    sentences = [_sentence_for(cause) for cause in _causes(error)]
    return next((sentence for sentence in sentences if sentence is not None), None)


def _sentence_for(error: BaseException) -> str | None:
    if is_full(error):
        return _FULL
    if isinstance(error, DatabaseProblem):  # the tables are at another revision
        return _AWAY
    return _AWAY if isinstance(error, DBAPIError) and _is_away(error) else None


def _is_away(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _SQLITE_AWAY  # the higher bits only refine the code
    state = getattr(error.orig, "sqlstate", None)
    return isinstance(error, OperationalError) if state is None else state.startswith(_POSTGRESQL_AWAY)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
