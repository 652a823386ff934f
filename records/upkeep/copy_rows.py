"""Copies every row of a database into an empty one, also between SQLite and PostgreSQL.

It is our own because `pg_dump` and SQLite's backup restore only into a database of their own kind.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Select, Table, func, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from records.database.connections import DatabaseProblem
from records.database.engine import Database
from records.schema import Base

BATCH = 200  # rows: some hold megabytes


class Unreadable(DatabaseProblem):
    """The rows to be copied cannot be read."""


def copy_rows(source: Database, target: Database, show: Callable[[int, int], None] = lambda _done, _total: None) -> int:
    """Copy all rows of one instant in one transaction, and return their number.

    Both databases are at this code's revision, and the target holds no row. `show` gets the number of copied rows, and
    of all rows.
    """
    copied = 0
    with source.reading() as reading, target.transaction() as writing:
        with _error_in_words(source):
            total = sum(counts(reading).values())
        for table in Base.metadata.sorted_tables:
            for rows in _batches(source, reading, table):
                writing.execute(table.insert(), rows)
                copied += len(rows)
                show(copied, total)
            _go_on_counting(writing, table)
    return copied


def counts(session: Session) -> dict[str, int]:
    """Return the number of rows of every table."""
    return {
        table.name: session.scalar(select(func.count()).select_from(table)) or 0
        for table in Base.metadata.sorted_tables
    }


def _batches(source: Database, session: Session, table: Table) -> Iterator[list[dict[str, object]]]:
    # A row that refers to another of its table has the later id.
    every: Select[tuple[object, ...]] = select(table).order_by(*inspect(table).primary_key)
    with _error_in_words(source):
        for rows in session.execute(every.execution_options(yield_per=BATCH)).mappings().partitions():
            yield [dict(row) for row in rows]


@contextmanager
def _error_in_words(source: Database) -> Iterator[None]:
    try:
        yield
    except (DBAPIError, TypeError, ValueError) as error:
        cause = " ".join(str(getattr(error, "orig", error)).split())
        raise Unreadable(f"The rows of {source.shown} cannot be read: {cause}.") from error


def _go_on_counting(session: Session, table: Table) -> None:
    number = table.autoincrement_column
    if number is None or session.get_bind().dialect.name != "postgresql":
        return
    sequence = func.pg_get_serial_sequence(table.name, number.name)
    session.execute(select(func.setval(sequence, func.coalesce(func.max(number), 0) + 1, False)))
