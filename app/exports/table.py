"""A table of an answer, as every format writes it: columns with their names, meanings and units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal

from app.http.conditional import entity_tag

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
    flags: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one length; `name` is that of its file, without the suffix."""

    name: str
    title: str
    columns: Sequence[Column]

    @property
    def tag(self) -> str:
        """Entity tag of the content."""
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
