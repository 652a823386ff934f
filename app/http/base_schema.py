"""Common parts of answer schemas."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, TypeVar, get_args, runtime_checkable

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from app.http.json_numbers import gappy_column, rounded
from hydrology.base import calendar
from hydrology.base import units as convert
from hydrology.base.absent import Absent, known
from hydrology.base.calendar import Day, as_date
from hydrology.base.doc import Why

Value = TypeVar("Value")


def _text(value: object) -> object:
    return str(value) if isinstance(value, Absent) else value


_AS_TEXT = BeforeValidator(_text)
ReasonText = Annotated[str, _AS_TEXT]
"""The text of a reason. A field of this type shows an `Absent` itself."""

Number = Annotated[float, AfterValidator(rounded)]
"""A number with 7 digits. A field of this type is filled with one of any number of digits."""

Missing = Annotated[
    dict[str, ReasonText],
    Field(description="Why a field is null, by the field's name: nothing is left out without a reason."),
]


Program = Annotated[
    str,
    Field(
        description="What computed it: torch's version and vector unit, and the library that ran MC-LSTM. Another one "
        "gives the same numbers but for the last digits."
    ),
]


@dataclass(frozen=True, slots=True)
class Series:
    """In the annotation of an answer's field: its column in files.

    A list has a value for each row, a single value is the same in all of them, and a list of objects is a row each. An
    object, or a dictionary of lists, is a column for each of what it holds: `{}` in `meaning` and `column` stands for
    the words and the name of each.

    Attributes:
        meaning: what it is, in words; of a field in an object, what `{}` stands for in the words of the object.
        unit: of numbers; by default that in the answer's `units`, under `unit_of`.
        unit_of: the field in `units` that gives the unit; by default its own.
        column: the name of the column; by default that of the field, and `field_{}` of an object.
        standard_name, cell_methods: of the CF conventions.
        axis: along which the columns of a dictionary differ.
        names: the columns of a dictionary along an axis, and their labels; by default those that it has.
        each: the words of each column along an axis; by default `{} of` and `meaning`.
        after: the field that its columns follow; by default they stand in the order of the fields.
        alone: of a field in an object: whether its column has its own name alone, without that of the object.
    """

    meaning: str
    unit: str | None = None
    unit_of: str | None = None
    column: str | None = None
    standard_name: str | None = None
    cell_methods: str | None = None
    axis: Literal["quantile", "member"] | None = None
    names: Mapping[str, float | str] | None = None
    each: str | None = None
    after: str | None = None
    alone: bool = False


EXPLAINED: Any = Field()
"""The default of `missing: Missing`: filled by the fields that are null. Reasons that are passed come first."""


def maybe(value: Value | Absent, show: Callable[[Value], object] | None = None) -> Any:
    """Return what a field is filled with, from what the core has: an absent value is null, with its reason."""
    return value if show is None or isinstance(value, Absent) else show(value)


@runtime_checkable
class Shows(Protocol):
    """In a field's annotation: shows values of another class."""

    def may_lack(self, source: type) -> bool:
        """Return whether something in a value of a class may be absent."""

    def model(self, value: Any) -> "Model":
        """Return a value as the answer shows it."""


class Model(BaseModel):
    """A part of an answer. It allows neither unknown fields nor non-finite numbers.

    A field may be filled with an `Absent`, and so may those of what it holds: it is null, and the next `missing` above
    has the reason under the field's path, such as `snow.normal`. `Why` in a field's annotation is the reason wherever
    it is None. Days, periods, areas and arrays are taken as the core has them (`as_json`).
    """

    __slots__ = ("_reasons",)

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    _why: ClassVar[dict[str, str]] = {}
    _shows: ClassVar[dict[str, Shows]] = {}
    _texts: ClassVar[set[str]] = set()

    def __init__(self, **values: Any) -> None:
        reasons = {name: why for name, why in self._why.items() if name in values and values[name] is None}
        for name, value in values.items():
            if _is_plain(value) or name in self._texts:
                continue
            if found := dict(_absences(value, name, self._shows.get(name))):
                reasons |= found
                value = _without_absent(value)
            values[name] = as_json(value)
        if "missing" in self.__pydantic_fields__:
            values["missing"] = reasons | values.get("missing", {})
            reasons = {}
        super().__init__(**values)
        object.__setattr__(self, "_reasons", reasons)

    @classmethod
    def from_records(cls, *sources: object, why: Mapping[str, str] | None = None, **fields: Any) -> Self:
        """Return the answer with the fields given and those that the sources have.

        `run` is also a source's `run_id`, and `period` its `first_day` and `last_day`.

        Args:
            why: the reasons of fields, where they are null.
        """
        for name in cls.model_fields.keys() - fields.keys() - {"missing"}:
            held = next((one for source in sources if (one := _attribute(source, name)) is not _NOTHING), _NOTHING)
            if held is not _NOTHING:
                fields[name] = held
        for name, reason in (why or {}).items():
            if fields[name] is None:
                fields.setdefault("missing", {})[name] = reason
        return cls(**fields)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls._why, cls._shows, cls._texts = {}, {}, set()
        for name, field in cls.model_fields.items():
            for mark in (*field.metadata, *_marks(field.annotation)):
                if isinstance(mark, Why):
                    cls._why[name] = mark.text
                elif isinstance(mark, Shows):
                    cls._shows[name] = mark
                elif mark is _AS_TEXT:
                    cls._texts.add(name)


def _marks(hint: Any) -> Iterator[object]:
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint):
        yield from _marks(part)


_NOTHING = object()


def _attribute(source: Any, name: str) -> object:
    held = getattr(source, name, _NOTHING)
    if held is not _NOTHING:
        return held
    if name == "period" and hasattr(source, "first_day"):
        return Period.between(source.first_day, source.last_day)
    return getattr(source, f"{name}_id", _NOTHING)


_PLAIN = {type(None), bool, int, float, str, date, datetime}
_WHOLE: set[type] = {*_PLAIN}
"""And the data classes, found so far, in which nothing can be absent."""


def _is_plain(value: Any) -> bool:
    """Return whether a field takes a value as it is, and nothing in it is absent."""
    kind = type(value)
    if kind is list:
        return not value or type(value[0]) in _PLAIN
    return kind in _WHOLE or (kind is dict and all(map(_is_plain, value.values())))


def _absences(value: object, path: str, shows: Shows | None) -> Iterator[tuple[str, str]]:
    """Yield the paths of absent values, with their reasons, that no `missing` below has."""
    if isinstance(value, Absent):
        yield path, str(value)
    elif isinstance(value, Model):
        yield from ((f"{path}.{inner}", text) for inner, text in getattr(value, "_reasons", {}).items())
    elif isinstance(value, Mapping):
        for name, held in value.items():
            if not _is_plain(held):
                yield from _absences(held, f"{path}.{name}", shows)
    elif isinstance(value, list | tuple) and value and type(value[0]) not in _PLAIN:
        for number, held in enumerate(value):
            yield from _absences(held, f"{path}.{number}", shows)
    elif shows is not None and is_dataclass(value):
        if shows.may_lack(type(value)):
            yield from _absences(shows.model(value), path, None)
        elif not isinstance(value, calendar.Period | convert.Area):
            _WHOLE.add(type(value))


def _without_absent(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: known(held) for name, held in value.items()}
    return None if isinstance(value, Absent) else value


def as_json(value: Any) -> Any:
    """Return a value of the core as a field takes it: an array is a list, with null for NaN."""
    if isinstance(value, np.ndarray):
        return gappy_column(value) if value.dtype.kind == "f" else value.tolist()
    if isinstance(value, np.datetime64):
        return as_date(value)
    if isinstance(value, calendar.Period):
        return Period.between(value.first, value.last)
    if isinstance(value, convert.Area):
        return Area(name=value.name, km2=value.m2 / convert.M2_PER_KM2)
    return {name: as_json(held) for name, held in value.items()} if isinstance(value, Mapping) else value


class OfBasin(Model):
    """Content about a basin."""

    basin: str


class DataCredit(Model):
    """Credit and licence of a data provider."""

    credit: Annotated[str, Series("provider of the product")] = Field(
        description="The attribution to show with the data."
    )
    licence: Annotated[str, Series("licence of the product")] = Field(description="The licence of the data.")


class Area(Model):
    """The drainage area used to convert depths and flows."""

    name: str = Field(description="Its source.")
    km2: Annotated[float, Series("area", "km2")]

    @classmethod
    def of(cls, area: convert.Area) -> Self:
        return cls(name=area.name, km2=area.m2 / convert.M2_PER_KM2)


class Period(Model):
    """Days from the first to the last, both included."""

    first_day: date
    last_day: date

    @classmethod
    def between(cls, first: Day, last: Day) -> Self:
        return cls(first_day=as_date(first), last_day=as_date(last))


def next_page(example: str) -> Any:
    """Return the field of a page with the address of the next."""
    description = "Where the next page is, also in the `Link` header; null on the last page."
    return Field(description=description, examples=[example])


def column(description: str) -> str:
    """Return the description of a column: one value for each day of `time`."""
    return f"{description}, one value for each day of `time`."
