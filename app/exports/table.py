"""Tables of answers, as every format writes them: a column for each field with `Series` in its annotation."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from app.http.base_schema import Series
from app.http.entity_tags import entity_tag
from records.basins.basins import Site

Kind = Literal["text", "number", "integer", "truth", "day", "instant"]
Axis = Literal["quantile", "member"]
RIVER_FLOW = "water_volume_transport_in_river_channel"
"""CF standard name of discharge in m3/s."""


@dataclass(frozen=True, slots=True)
class AxisPosition:
    """Position among the columns of a variable; `label` is a share of 1 (`quantile`) or a member's name."""

    variable: str
    meaning: str
    axis: Axis
    label: float | str


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: lower case, with underscores.
        values: one for each row; None where missing.
        of_basin: whether it is the same in all rows of a basin.
        along: None where it is the only column of its variable.
        flags: the meaning of each bit, if the values are flags.
    """

    name: str
    meaning: str
    kind: Kind
    values: Sequence[Any]
    unit: str | None = None
    of_basin: bool = False
    along: AxisPosition | None = None
    standard_name: str | None = None
    cell_methods: str | None = None
    flags: Mapping[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one length; `name` is that of its file, without the suffix."""

    name: str
    title: str
    columns: Sequence[Column]

    @property
    def tag(self) -> str:
        return entity_tag([[column.name, repr(list(column.values))] for column in self.columns])

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.values for column in self.columns), strict=True)


def instant_text(instant: datetime) -> str:
    """Return an instant in UTC in JSON's form [RFC 3339]."""
    return instant.isoformat().replace("+00:00", "Z")


def json_text(value: date | datetime) -> str:
    """Return a day or an instant in UTC in JSON's form."""
    return instant_text(value) if isinstance(value, datetime) else value.isoformat()


def constant(name: str, meaning: str, kind: Kind, value: Any, rows: int, **more: Any) -> Column:
    """Return a column that is the same in all rows of a basin."""
    return Column(name, meaning, kind, [value] * rows, of_basin=True, **more)


def numbers(
    name: str, meaning: str, values: Sequence[float | None] | None, rows: int, unit: str | None = None, **more: Any
) -> Column:
    """Return a column of numbers; empty where an answer has none."""
    return Column(name, meaning, "number", values or [None] * rows, unit, **more)


def stacked(name: str, title: str, parts: Sequence[Sequence[Column]]) -> Table:
    """Return the rows of many parts in one table; a column that a part lacks is empty in its rows."""
    declared: dict[str, Column] = {}
    gathered: dict[str, list[Any]] = {}
    rows = 0
    for part in parts:
        for column in part:
            declared.setdefault(column.name, column)
            gathered.setdefault(column.name, [None] * rows).extend(column.values)
        rows += len(part[0].values)
        for values in gathered.values():
            values.extend([None] * (rows - len(values)))
    return Table(name, title, [replace(column, values=gathered[column.name]) for column in declared.values()])


def by_basin(name: str, title: str, basins: Sequence[str], columns: Mapping[str, Sequence[float | None]]) -> Table:
    """Return a table with a row for each basin, and columns of numbers by their names."""
    first = Column("basin", "identifier of the basin", "text", basins)
    return Table(name, title, [first, *(numbers(key, key, values, len(basins)) for key, values in columns.items())])


NOWHERE = Site(None, None, None)
_KINDS: Mapping[Any, Kind] = {
    bool: "truth",
    int: "integer",
    float: "number",
    date: "day",
    datetime: "instant",
}


def basin_columns(basin: str, site: Site, rows: int) -> list[Column]:
    """Return columns with a basin's identifier, name, location and whether it is official."""
    return [
        constant("basin", "identifier of the basin", "text", basin, rows),
        constant("name", "name of the basin", "text", site.name, rows),
        *(
            constant(name, f"{name} of the gauge", "number", value, rows, unit=unit, standard_name=name)
            for name, value, unit in (
                ("latitude", site.latitude, "degrees_north"),
                ("longitude", site.longitude, "degrees_east"),
            )
        ),
        constant("official", "false: an operator registered the basin", "truth", site.is_official, rows),
    ]


def day_columns(days: Sequence[date], leads: Sequence[int]) -> list[Column]:
    return [
        Column("time", "valid day", "day", days),
        Column("lead_days", "days since t0", "integer", leads, "day", standard_name="forecast_period"),
    ]


def table_of(answer: BaseModel, name: str, title: str, places: Mapping[str, Site] | None = None) -> Table:
    """Return the table of an answer; a null field's columns are empty. Those of `places` come first."""
    return Table(name, title, columns_of(answer, places))


def columns_of(answer: BaseModel, places: Mapping[str, Site] | None = None) -> list[Column]:
    fields = _fields(type(answer))
    lists = (_at(answer, field.items or field.path) for field in fields if field.is_list)
    rows = next(len(values) for values in lists if values is not None)
    basin: str = getattr(answer, "basin", "")
    about = [] if places is None else basin_columns(basin, places.get(basin, NOWHERE), rows)
    return [*about, *(column for field in fields for column in _columns(field, answer, rows))]


@dataclass(frozen=True, slots=True)
class _Field:
    """Where a column's values are, from the answer or from an item of the list at `items`."""

    path: tuple[str, ...]
    column: str
    mark: Series
    kind: Kind
    is_list: bool
    is_dict: bool
    items: tuple[str, ...] = ()


def _fields(model: type[BaseModel]) -> list[_Field]:
    marks = {
        name: next((mark for mark in field.metadata if isinstance(mark, Series)), None)
        for name, field in model.model_fields.items()
    }
    if not any(marks.values()):
        marks = {name: Series(name.replace("_", " ")) for name in marks}
    return _ordered(
        [
            found
            for name, mark in marks.items()
            if mark is not None
            for found in _of_field(name, mark, model.model_fields[name].annotation)
        ]
    )


def _of_field(name: str, mark: Series, hint: Any) -> Iterator[_Field]:
    mark = mark if mark.unit or mark.unit_of else replace(mark, unit_of=name)
    holder, held = _taken_apart(hint)
    if not (inspect.isclass(held) and issubclass(held, BaseModel)):
        kind = _KINDS.get(held, "text")
        yield _Field((name,), mark.column or name, mark, kind, is_list=holder is list, is_dict=holder is dict)
        return
    for field in _fields(held):
        if holder is list:
            yield replace(field, is_list=True, items=(name,))
            continue
        words, column = mark.meaning.format(field.mark.meaning), mark.column or f"{name}_{{}}"
        own = field.mark.unit or field.mark.alone
        joined = replace(field.mark if own else mark, meaning=words, after=mark.after)
        column = field.column if field.mark.alone else column.format(field.column)
        yield replace(field, path=(name, *field.path), column=column, mark=joined)


def _taken_apart(hint: Any) -> tuple[Any, Any]:
    holder = None
    while (origin := get_origin(hint)) in (Annotated, Union, UnionType, list, dict):
        holder = holder or (origin if origin in (list, dict) else None)
        parts = [part for part in get_args(hint) if part is not NoneType]
        hint = parts[1] if origin is dict else parts[0]
    return holder, hint


def _ordered(fields: list[_Field]) -> list[_Field]:
    for field in [field for field in fields if field.mark.after]:
        fields.remove(field)
        fields.insert(1 + max(at for at, other in enumerate(fields) if other.path[0] == field.mark.after), field)
    return fields


def _at(answer: object, path: tuple[str, ...]) -> Any:
    for name in path:
        answer = getattr(answer, name, None)
    return answer


def _columns(field: _Field, answer: BaseModel, rows: int) -> Iterator[Column]:
    mark, value = field.mark, _at(answer, field.items or field.path)
    units: Any = getattr(answer, "units", {})
    of_all = units if field.kind == "number" else None
    unit = mark.unit or (units.get(mark.unit_of) if isinstance(units, Mapping) else of_all)
    standard = None if mark.standard_name == RIVER_FLOW and unit == "mm/day" else mark.standard_name
    more: dict[str, Any] = {"unit": unit, "standard_name": standard, "cell_methods": mark.cell_methods}
    if field.is_dict:
        for name, label in (mark.names or {name: name for name in value or ()}).items():
            column = (mark.column or f"{field.column}_{{}}").format(name.replace("/", "_"))
            along = mark.axis and AxisPosition(field.path[-1], mark.meaning, mark.axis, label)
            words = (mark.each or f"{{}} of {mark.meaning}").format(name)
            yield Column(column, words, field.kind, (value or {}).get(name) or [None] * rows, along=along, **more)
        return
    if field.items:
        value = [_at(item, field.path) for item in value or ()]
    elif not field.is_list:
        value = [value] * rows
    yield Column(field.column, mark.meaning, field.kind, value or [None] * rows, of_basin=not field.is_list, **more)
