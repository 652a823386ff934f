"""Selects rows by composite keys."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVarTuple

from sqlalchemy import Select, column, false, values
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import ColumnElement

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
