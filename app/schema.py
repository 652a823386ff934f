"""What every answer's schema shares."""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hydrology.calendar import as_date, day
from hydrology.errors import InvalidInput

Missing = Annotated[
    dict[str, str],
    Field(description="Why a field is null, by the field's name: nothing is left out without a reason."),
]

Line = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$")]
"""A line of text that says something: no control characters, not blank."""
Name = Annotated[str, Field(pattern="^[0-9A-Za-z_.-]{1,64}$")]
Id = Annotated[str, Field(pattern="^[0-9A-Za-z_-]{1,64}$")]


def _day(said: object) -> object:
    """Read `YYYY-MM-DD` and nothing else: a number would be taken for the seconds since 1970."""
    try:
        found = as_date(day(str(said)))
    except InvalidInput as error:
        raise PydanticCustomError("day", "{sentence}", {"sentence": str(error)}) from None
    if str(found) != str(said):
        raise PydanticCustomError("day", "not a day as it is written here: YYYY-MM-DD")
    return found


AskedDay = Annotated[date, BeforeValidator(_day)]


class Model(BaseModel):
    """A part of an answer. It holds no field that is not named and no number that is not finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RequestModel(Model):
    """A part of a request's body. A number is a number there, not a text that could be read as one."""

    model_config = ConfigDict(strict=True)


def column(description: str) -> str:
    """Return the description of a column: one value for each day of `time`."""
    return f"{description}, one value for each day of `time`."
