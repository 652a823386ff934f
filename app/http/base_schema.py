"""Common parts of answer schemas."""

from datetime import date
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date

Value = TypeVar("Value")

Missing = Annotated[
    dict[str, str],
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


class DataCredit(Model):
    """Credit and licence of a data provider."""

    credit: str = Field(description="The attribution to show with the data.")
    licence: str = Field(description="The licence of the data.")


class Period(Model):
    """Days from the first to the last, both included."""

    first_day: date
    last_day: date

    @classmethod
    def between(cls, first: Day, last: Day) -> Self:
        """Return the days from the first to the last."""
        return cls(first_day=as_date(first), last_day=as_date(last))


def column(description: str) -> str:
    """Return the description of a column: one value for each day of `time`."""
    return f"{description}, one value for each day of `time`."
