"""Shared statements of the repositories: inserts of both dialects, and rows as plain records."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar, cast

from sqlalchemy import Row, Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from records.database.checksums import with_checksum
from records.database.tables import Checksummed

Record = TypeVar("Record")


def insert_into(session: Session, row: type | Table) -> sqlite.Insert | postgresql.Insert:
    """Return the dialect's INSERT, which knows ON CONFLICT."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table_of(row))
    return postgresql.insert(table_of(row))


def add_all(session: Session, row: type | Table, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows, if there are any, with their checksums where the table has them."""
    if isinstance(row, type) and issubclass(row, Checksummed):
        rows = [with_checksum(row, values) for values in rows]
    values = list(rows)
    if values:
        session.execute(table_of(row).insert(), values)


def table_of(row: type | Table) -> Table:
    """Return the table of a row class, or of a stored record."""
    return row if isinstance(row, Table) else cast(Table, cast(Any, row).__table__)


def row_of(session: Session, row: type | Table, *key: object) -> Row[Any] | None:
    """Return the stored row of a primary key, its parts in the order of the columns."""
    table = table_of(row)
    own = (column == part for column, part in zip(table.primary_key, key, strict=True))
    return session.execute(select(table).where(*own)).one_or_none()


def as_record(record: type[Record], row: Any, **more: Any) -> Record:
    """Return the record whose fields are a row's columns of the same names, and those given."""
    names = [field.name for field in fields(cast(Any, record)) if field.name not in more]
    return record(**{name: getattr(row, name) for name in names}, **more)


def as_values(record: Any, *left_out: str) -> dict[str, Any]:
    """Return a record's fields by name."""
    return {field.name: getattr(record, field.name) for field in fields(record) if field.name not in left_out}


def grouped(pairs: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return the second columns of rows, in order, by their first."""
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
