"""Common parts of answer schemas."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hydrology.base import units as convert
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date

Value = TypeVar("Value")


def _text(value: object) -> object:
    return str(value) if isinstance(value, Absent) else value


ReasonText = Annotated[str, BeforeValidator(_text)]
"""The text of a reason, also where it is read from a record."""

Missing = Annotated[
    dict[str, ReasonText],
    Field(description="Why a field is null, by the field's name: nothing is left out without a reason."),
]


class Absences:
    """Collects the `missing` entries of an answer while its fields are filled."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def present(self, path: str, value: Value | Absent) -> Value | None:
        """Return a field's value; or None, with its reason recorded under the field's path."""
        if isinstance(value, Absent):
            self.texts[path] = str(value)
            return None
        return value


Program = Annotated[
    str,
    Field(
        description="What computed it: torch's version and vector unit, and the library that ran MC-LSTM. Another one "
        "gives the same numbers but for the last digits."
    ),
]


class Model(BaseModel):
    """A part of an answer. It allows neither unknown fields nor non-finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OfBasin(Model):
    """Content about a basin."""

    basin: str


class DataCredit(Model):
    """Credit and licence of a data provider."""

    credit: str = Field(description="The attribution to show with the data.")
    licence: str = Field(description="The licence of the data.")


class Area(Model):
    """The drainage area used to convert depths and flows."""

    name: str = Field(description="Its source.")
    km2: float

    @classmethod
    def of(cls, area: convert.Area) -> Self:
        """Return an area as answers show it."""
        return cls(name=area.name, km2=area.m2 / convert.M2_PER_KM2)


class Period(Model):
    """Days from the first to the last, both included."""

    first_day: date
    last_day: date

    @classmethod
    def between(cls, first: Day, last: Day) -> Self:
        """Return the days from the first to the last."""
        return cls(first_day=as_date(first), last_day=as_date(last))


def next_page(example: str) -> Any:
    """Return the field of a page with the address of the next."""
    description = "Where the next page is, also in the `Link` header; null on the last page."
    return Field(description=description, examples=[example])


def why_null(values: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons of the fields that are null."""
    return {name: reason for name, reason in reasons.items() if values[name] is None}


def column(description: str) -> str:
    """Return the description of a column: one value for each day of `time`."""
    return f"{description}, one value for each day of `time`."
