"""Shared statements of the repositories: inserts of both dialects, rows as plain records, rows of composite keys."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar, TypeVarTuple, cast

from sqlalchemy import JSON, ColumnElement, Select, Table, Text, column, false, or_, values
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import InstrumentedAttribute, Session

from records.database.checksums import Checksummed, with_checksum

Record = TypeVar("Record")


def insert_into(session: Session, row: type | Table) -> sqlite.Insert | postgresql.Insert:
    """Return the dialect's INSERT, which knows ON CONFLICT."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table_of(row))
    return postgresql.insert(table_of(row))


def add_all(session: Session, row: type | Table, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows, if there are any, with their checksums where the table has them."""
    values = _summed(row, rows)
    if values:
        session.execute(table_of(row).insert(), values)


def table_of(row: type | Table) -> Table:
    """Return the table of a row class, or of a stored record."""
    return row if isinstance(row, Table) else cast(Table, cast(Any, row).__table__)


def upsert(session: Session, row: type, rows: Iterable[dict[str, Any]], *, compared: Sequence[str] = ()) -> None:
    """Insert rows, each in the place of one that has its key, with their checksums where the table has them.

    A row that is the same in the `compared` columns stays as it is; by default all are written.
    """
    values = _summed(row, rows)
    if not values:
        return
    insert = insert_into(session, row)
    key, old, new = [column.name for column in insert.table.primary_key], insert.table.c, insert.excluded
    written = {name: new[name] for name in values[0] if name not in key} or {key[0]: new[key[0]]}
    differs = (_comparable(old[name]).is_distinct_from(_comparable(new[name])) for name in compared)
    where = or_(*differs) if compared else None
    session.execute(insert.on_conflict_do_update(index_elements=key, set_=written, where=where), values)


def _summed(row: type | Table, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(row, Table) or not issubclass(row, Checksummed):
        return list(rows)
    return [with_checksum(row, values) for values in rows]


def _comparable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return sql_cast(column, Text) if isinstance(column.type, JSON) else column


def as_record(record: type[Record], row: Any, **more: Any) -> Record:
    """Return the record whose fields are a row's columns of the same names, and those given."""
    parts, values = getattr(record, "__parts__", {}), dict(more)
    for name in (field.name for field in fields(cast(Any, record)) if field.name not in more):
        if name in parts:
            part, prefix = parts[name]
            values[name] = part(**{field.name: getattr(row, f"{prefix}{field.name}") for field in fields(part)})
        else:
            values[name] = getattr(row, name)
    return record(**values)


def as_values(record: Any, *left_out: str) -> dict[str, Any]:
    """Return a record's fields by name, and those of its parts by the names of their columns."""
    parts, values = getattr(record, "__parts__", {}), dict[str, Any]()
    for name in (field.name for field in fields(record) if field.name not in left_out):
        if name in parts:
            values |= {f"{parts[name][1]}{part}": value for part, value in as_values(getattr(record, name)).items()}
        else:
            values[name] = getattr(record, name)
    return values


def grouped(pairs: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return the second columns of rows, in order, by their first."""
    groups: dict[Any, list[Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


Columns = TypeVarTuple("Columns")


def where_keys(
    query: Select[*Columns],
    columns: Sequence[ColumnElement[Any] | InstrumentedAttribute[Any]],
    keys: Collection[tuple[Any, ...]],
) -> Select[*Columns]:
    """Restrict a query to the rows whose columns hold one of many keys.

    The keys are joined as a table, so that SQLite finds rows by an index. For `(a, b) IN (...)` it reads the whole
    table.
    """
    if not keys:
        return query.where(false())
    named = [column(f"key_{number}", each.type) for number, each in enumerate(columns)]
    wanted = values(*named, name="wanted").data(list(dict.fromkeys(keys))).cte("wanted")
    return query.where(*(each == key for each, key in zip(columns, wanted.c, strict=True)))
