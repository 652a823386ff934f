"""Records that are their tables: a frozen data class declares its columns once; and shared statements."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    TypeVarTuple,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    ForeignKey,
    PrimaryKeyConstraint,
    Row,
    Select,
    String,
    Table,
    Text,
    column,
    literal,
    or_,
    select,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from hydrology.base.errors import Problem
from records.database.base import Base, Document, Long, one_of
from records.database.checksums import SUMMED, Summed, with_checksum

Record = TypeVar("Record")


def insert_into(session: Session, row: type | Table) -> sqlite.Insert | postgresql.Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table_of(row))
    return postgresql.insert(table_of(row))


def add_all(session: Session, row: type | Table, rows: Iterable[dict[str, Any]], *, if_new: bool = False) -> None:
    """Insert rows, if there are any, with their checksums where the table has them; or only those of new keys."""
    table = table_of(row)
    insert = insert_into(session, table).on_conflict_do_nothing() if if_new else table.insert()
    if values := [with_checksum(table, one) for one in rows]:
        session.execute(insert, values)


def table_of(row: type | Table) -> Table:
    return row if isinstance(row, Table) else cast(Table, cast(Any, row).__table__)


def upsert(
    session: Session, row: type | Table, rows: Iterable[dict[str, Any]], *, compared: Sequence[str] = ()
) -> None:
    """Insert rows, each in the place of one that has its key, with their checksums where the table has them.

    A row that is the same in the `compared` columns stays as it is; by default all are written.
    """
    insert, table = insert_into(session, row), table_of(row)
    values = [with_checksum(table, one) for one in rows]
    if not values:
        return
    key, old, new = [column.name for column in insert.table.primary_key], insert.table.c, insert.excluded
    written = {name: new[name] for name in values[0] if name not in key} or {key[0]: new[key[0]]}
    differs = (_comparable(old[name]).is_distinct_from(_comparable(new[name])) for name in compared)
    where = or_(*differs) if compared else None
    session.execute(insert.on_conflict_do_update(index_elements=key, set_=written, where=where), values)


def _comparable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return sql_cast(column, Text) if isinstance(column.type, JSON) else column


def as_record(record: type[Record], row: Any, **more: Any) -> Record:
    """Return the record whose fields are a row's columns of the same names, and those given."""
    return record(**{name: read(row) for name, read in _readers(cast(Any, record)).items() if name not in more}, **more)


@cache
def _readers(record: type[Any]) -> dict[str, Callable[[Any], Any]]:
    """Return what reads each field of a record from a row."""
    parts: Mapping[str, tuple[type[Any], str]] = getattr(record, "__parts__", {})
    names = [field.name for field in fields(record)]
    return {name: partial(_part, *parts[name]) if name in parts else attrgetter(name) for name in names}


def _part(part: type[Record], prefix: str, row: Any) -> Record:
    return part(**{field.name: getattr(row, f"{prefix}{field.name}") for field in fields(cast(Any, part))})


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


Selected = TypeVarTuple("Selected")


class _Elements(FunctionElement[Any]):
    """The elements of a JSON array, as a table."""

    inherit_cache = True


@compiles(_Elements)
def _elements(elements: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    name = "json_each" if compiler.dialect.name == "sqlite" else "json_array_elements"
    return f"{name}{compiler.process(elements.clause_expr, **options)}"


def where_keys(
    query: Select[*Selected], columns: Sequence[ColumnElement[Any]], keys: Collection[tuple[str, ...]]
) -> Select[*Selected]:
    """Restrict a query to the rows whose columns hold one of many keys.

    The keys are joined as a table, so that SQLite finds rows by an index: for `(a, b) IN (...)` it reads the whole
    table. They are one parameter, so that the statement is compiled once, whatever their number.
    """
    unique = [list(key) for key in dict.fromkeys(keys)]
    wanted = _Elements(literal(unique, JSON)).table_valued(column("value", JSON), name="wanted")
    return query.where(*(each == wanted.c.value[place].as_string() for place, each in enumerate(columns)))


def narrowed(query: Select[*Selected], *filters: tuple[Callable[[Any], ColumnElement[bool]], Any]) -> Select[*Selected]:
    """Restrict a query by conditions, such as `column.in_`, on the values that are given: not None."""
    return query.where(*(condition(value) for condition, value in filters if value is not None))


ELSEWHERE = object()
"""Annotates a field without a column: whoever reads the record adds it."""
ANY_WORD = object()
"""Annotates a field whose words the table does not check."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Annotates a field whose own fields are columns of the table, with a prefix before their names."""

    prefix: str = ""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def stored(
    name: str,
    *items: SchemaItem,
    key: tuple[str, ...] = ("id",),
    kw_only: bool = True,
    numbered: bool = False,
    summed: Summed | None = None,
) -> Callable[[type[Record]], type[Record]]:
    """Declare a data class, the record, with its table: a column for each field.

    A field's type decides its column's, as in `Base`; a `Literal` is a word that the table checks; a data class, a
    tuple, list or mapping is a `Document`; `X | None` may be null. An annotation may hold a foreign key, a type of its
    own, `ELSEWHERE`, `ANY_WORD` or `Columns`.

    Args:
        items: its constraints and indexes, and columns that the record does not show, or shows as another type.
        numbered: whether numbers of deleted rows are never reused.
        summed: what its rows' checksums, which it then holds, are of.
    """

    def declare(declared: type[Record]) -> type[Record]:
        record = dataclass(frozen=True, slots=True, kw_only=kw_only)(declared)
        parts: dict[str, tuple[type, str]] = {}
        apart = {item.name for item in items if isinstance(item, Column)}
        columns = [column for column in _columns(record, "", parts) if column.name not in apart]
        words = {field: _words(hint) for field, hint in get_type_hints(record, include_extras=True).items()}
        checks = [one_of(field, *words[field]) for field in words if words[field]]
        primary = PrimaryKeyConstraint(*key)
        if summed is not None:
            columns.append(Column("checksum", Long(), nullable=False))
        table = Table(name, Base.metadata, *columns, *checks, *items, primary, sqlite_autoincrement=numbered)
        table.info[SUMMED] = summed
        cast(Any, record).__table__, cast(Any, record).__parts__ = table, parts
        return record

    return declare


def read(session: Session, record: type[Record], query: Select[Any]) -> list[Record]:
    return [as_record(record, row) for row in session.execute(query)]


def find_row(session: Session, table: Table, **key: Any) -> Row[Any] | None:
    return session.execute(select(table).filter_by(**key)).one_or_none()


def find(session: Session, record: type[Record], *, for_update: bool = False, **key: Any) -> Record | None:
    """Return a key's record or None; `for_update` locks it for the transaction."""
    query = select(table_of(record)).filter_by(**key)
    return next(iter(read(session, record, query.with_for_update() if for_update else query)), None)


def find_or_raise(
    session: Session, record: type[Record], problem: Problem, *, for_update: bool = False, **key: Any
) -> Record:
    """Return a key's record, as `find` does, or raise a problem."""
    found = find(session, record, for_update=for_update, **key)
    if found is None:
        raise problem
    return found


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
        if isinstance(extra, TypeEngine):
            return extra
    if kind in Base.column_types:
        return cast(TypeEngine[Any], Base.column_types[kind])
    if get_origin(kind) is Literal:
        return String()
    if is_dataclass(kind) or get_origin(kind) in (tuple, list, dict, Mapping):
        return Document(cast(type, kind))
    raise TypeError(f"no column holds a {kind}")
