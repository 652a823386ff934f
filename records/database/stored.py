"""Records that are their tables: a frozen data class declares its columns once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from sqlalchemy import Boolean, Column, ForeignKey, PrimaryKeyConstraint, Select, String, Table, select
from sqlalchemy.orm import MappedColumn, Session
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from records.database.base import Base, Document, one_of
from records.database.statements import as_record, table_of

Record = TypeVar("Record")


class ElsewhereType:
    """Annotates a field without a column: whoever reads the record adds it."""


ELSEWHERE = ElsewhereType()
ANY_WORD = object()
"""Annotates a field whose words the table does not check."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Annotates a field whose own fields are columns of the table, with a prefix before their names."""

    prefix: str = ""


def stored(
    name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), numbered: bool = False
) -> Callable[[type[Record]], type[Record]]:
    """Give a data class its table, with a column for each field.

    A field's type decides its column's, as in `Base`; a `Literal` is a word that the table checks; a data class, a
    tuple, list or mapping is a `Document`; `X | None` may be null. An annotation may hold a foreign key, a type of its
    own, `ELSEWHERE`, `ANY_WORD` or `Columns`.

    Args:
        items: its constraints and indexes, and columns that the record does not show, or shows as another type.
        numbered: whether numbers of deleted rows are never reused.
    """

    def declare(record: type[Record]) -> type[Record]:
        parts: dict[str, tuple[type, str]] = {}
        apart = {item.name for item in items if isinstance(item, Column)}
        columns = [column for column in _columns(record, "", parts) if column.name not in apart]
        words = {field: _words(hint) for field, hint in get_type_hints(record, include_extras=True).items()}
        checks = [one_of(field, *words[field]) for field in words if words[field]]
        primary = PrimaryKeyConstraint(*key)
        table = Table(name, Base.metadata, *columns, *checks, *items, primary, sqlite_autoincrement=numbered)
        cast(Any, record).__table__, cast(Any, record).__parts__ = table, parts
        return record

    return declare


def read(session: Session, record: type[Record], query: Select[Any]) -> list[Record]:
    """Return the records whose rows a query selects."""
    return [as_record(record, row) for row in session.execute(query)]


def find(session: Session, record: type[Record], *, for_update: bool = False, **key: Any) -> Record | None:
    """Return a key's record or None; `for_update` locks it for the transaction."""
    query = select(table_of(record)).filter_by(**key)
    return next(iter(read(session, record, query.with_for_update() if for_update else query)), None)


def _columns(record: type, prefix: str, parts: dict[str, tuple[type, str]]) -> Iterator[Column[Any]]:
    for name, hint in get_type_hints(record, include_extras=True).items():
        kind, extras, nullable = _taken_apart(hint)
        if ELSEWHERE in extras:
            continue
        if part := next((extra for extra in extras if isinstance(extra, Columns)), None):
            parts[name] = kind, part.prefix
            yield from _columns(kind, part.prefix, {})
            continue
        foreign = [extra for extra in extras if isinstance(extra, ForeignKey)]
        yield Column(f"{prefix}{name}", _column_type(kind, extras), *foreign, nullable=nullable)


def _words(hint: Any) -> list[str]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return [*parts]
    if origin not in (Annotated, Union, UnionType) or ANY_WORD in parts:
        return []
    return [word for part in parts for word in _words(part)]


def _taken_apart(hint: Any) -> tuple[Any, list[Any], bool]:
    extras: list[Any] = []
    nullable = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            extras += more
        elif get_origin(hint) in (Union, UnionType):
            kinds = [part for part in get_args(hint) if part is not NoneType]
            nullable |= len(kinds) < len(get_args(hint))
            if len(kinds) > 1 and not all(get_origin(one) is Literal for one in kinds):
                raise TypeError(f"no column holds a {hint}")
            hint = kinds[0]
        else:
            return hint, extras, nullable


def _column_type(kind: Any, extras: list[Any]) -> TypeEngine[Any]:
    for extra in extras:
        if isinstance(extra, MappedColumn):
            return extra.column.type
        if isinstance(extra, TypeEngine):
            return extra
    if kind in Base.type_annotation_map:
        return cast(TypeEngine[Any], Base.type_annotation_map[kind])
    if kind is str or get_origin(kind) is Literal:
        return String()
    if kind is bool:
        return Boolean()
    if is_dataclass(kind) or get_origin(kind) in (tuple, list, dict, Mapping):
        return Document(cast(type, kind))
    raise TypeError(f"no column holds a {kind}")
