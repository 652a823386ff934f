"""Checks the schema of a SQLite file before any of it is run: views, triggers, tables, indexes.

Reading a view runs a query of its author's, which may never end; writing or checking a table runs its triggers,
generated columns, checks and expression indexes. A file from elsewhere may have only those of Freshet.
"""

import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection

from hydrology.base.errors import Problem, excerpt

Objects = Mapping[tuple[str, str], tuple[str, ...]]
"""The clauses of each object's statement, sorted, by its type and name."""

REVISION = ("table", "alembic_version")
_MAX_READING = 60.0  # seconds; normally it takes milliseconds
_STEPS = 10_000  # of SQLite's virtual machine, between two checks of the clock
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,  # bytes of a text, and so of a statement
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_OBJECTS = "SELECT type, name, coalesce(sql, '') FROM sqlite_master"
_GENERATED = (
    "SELECT object.name, part.name FROM sqlite_master AS object, pragma_table_xinfo(object.name) AS part "
    "WHERE object.type = 'table' AND part.hidden IN (2, 3)"
)


class ForeignSchema(Problem):
    """A SQLite file has other tables, views or triggers than those of Freshet."""


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a foreign SQLite file read-only, with limits of time and size."""
    last = time.monotonic() + _MAX_READING
    with closing(sqlite3.connect(f"file:{quote(str(file))}?immutable=1", uri=True)) as connection:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.set_progress_handler(lambda: time.monotonic() > last, _STEPS)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            connection.execute(f"PRAGMA {pragma}")
        yield connection


def objects(connection: sqlite3.Connection) -> Objects:
    """Return a file's schema objects; refuse views, triggers and virtual tables."""
    found = {}
    for type_, name, statement in connection.execute(_OBJECTS):
        if _runs_by_itself(type_, statement):
            raise ForeignSchema(f"it has the {excerpt(type_)} {excerpt(name)}, which Freshet does not use")
        found[type_, name] = _clauses(statement)
    return found


def require_same(found: Objects, expected: Objects) -> None:
    """Check that a file has exactly the expected schema, else ForeignSchema."""
    for type_, name in sorted(found.keys() | expected.keys()):
        key = (type_, name)
        if key not in expected:
            raise ForeignSchema(f"it has the {type_} {excerpt(name)}, which is not one of Freshet's")
        if key not in found:
            raise ForeignSchema(f"it lacks the {type_} {name}")
        if found[key] != expected[key]:
            raise ForeignSchema(f"its {type_} {name} is not Freshet's")


def revision_of(connection: sqlite3.Connection, found: Objects, expected: Objects) -> str:
    if found.get(REVISION) != expected[REVISION]:
        raise ForeignSchema("it has no table of its revision")
    rows = connection.execute("SELECT version_num FROM alembic_version LIMIT 2").fetchall()
    if len(rows) != 1:
        raise ForeignSchema("it names no revision")
    return str(rows[0][0])


def is_whole(connection: sqlite3.Connection) -> bool:
    """Return whether the pages of a file with Freshet's tables are consistent. The check may take long."""
    connection.set_progress_handler(None, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**30)
    return connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]


def unsafe_objects(connection: Connection) -> list[str]:
    """Describe objects that run their own statements when tables are read or checked."""
    found = connection.exec_driver_sql(_OBJECTS).all()
    unsafe = [f"the {type_} {excerpt(name)}" for type_, name, statement in found if _runs_by_itself(type_, statement)]
    if unsafe:  # no further query is safe
        return unsafe
    columns = connection.exec_driver_sql(_GENERATED).all()
    return [f"the generated column {excerpt(column)} of {excerpt(table)}" for table, column in columns]


def _runs_by_itself(type_: str, statement: str) -> bool:
    is_virtual = re.match(r"\s*CREATE\s+VIRTUAL\b", statement, re.IGNORECASE) is not None
    return type_ not in ("table", "index") or is_virtual


def _clauses(statement: str) -> tuple[str, ...]:
    clauses, depth, started = [], 0, 0
    for place, character in enumerate(statement):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if (depth == 1 and character in "(,") or (depth == 0 and character == ")"):
            clauses.append(statement[started:place])
            started = place + 1
    return tuple(sorted(" ".join(clause.split()) for clause in (*clauses, statement[started:])))
