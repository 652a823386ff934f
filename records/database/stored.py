"""Records that are their tables: a frozen data class declares its columns once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from sqlalchemy import JSON, Boolean, Column, ForeignKey, String, Table
from sqlalchemy.orm import MappedColumn
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from records.database.base import Base, Document, JsonTuple

Record = TypeVar("Record")

ELSEWHERE = object()
"""Annotates a field that is not a column: it is read from other tables, or derived (`as_record` gets it)."""


def stored(
    name: str, *items: SchemaItem, key: tuple[str, ...] = ("id",), numbered: bool = False
) -> Callable[[type[Record]], type[Record]]:
    """Give a data class its table, with a column for each field.

    A field's type decides its column's, as in `Base`; a data class is a `Document`; tuples, lists and mappings are
    JSON; `X | None` may be null; an annotation may hold a foreign key, or a type of its own.

    Args:
        name: of the table.
        items: its constraints and indexes, and columns that the record does not show.
        key: the fields of the primary key, after such columns of it.
        numbered: whether numbers of deleted rows are never reused.
    """

    def declare(record: type[Record]) -> type[Record]:
        columns = {column.name: column for column in _columns(record, key)}
        keys = [columns.pop(part) for part in key]
        first = [item for item in items if isinstance(item, Column)]
        others = [item for item in items if not isinstance(item, Column)]
        all_columns = (*first, *keys, *columns.values())
        table = Table(name, Base.metadata, *all_columns, *others, sqlite_autoincrement=numbered)
        cast(Any, record).__table__ = table
        return record

    return declare


def _columns(record: type, key: tuple[str, ...]) -> Iterator[Column[Any]]:
    for name, hint in get_type_hints(record, include_extras=True).items():
        kind, extras, nullable = _taken_apart(hint)
        if any(extra is ELSEWHERE for extra in extras):
            continue
        foreign = [extra for extra in extras if isinstance(extra, ForeignKey)]
        yield Column(name, _column_type(kind, extras), *foreign, primary_key=name in key, nullable=nullable)


def _taken_apart(hint: Any) -> tuple[Any, list[Any], bool]:
    """Return a field's bare type, what it is annotated with, and whether it may be null."""
    extras: list[Any] = []
    nullable = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            extras += more
        elif get_origin(hint) in (Union, UnionType):
            (hint,) = (part for part in get_args(hint) if part is not NoneType)
            nullable = True
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
    if get_origin(kind) is tuple:
        return JsonTuple()
    if get_origin(kind) in (list, dict, Mapping):
        return JSON(none_as_null=True)
    if is_dataclass(kind):
        return Document(cast(type, kind))
    raise TypeError(f"no column holds a {kind}")
