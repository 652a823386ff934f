"""The fields that requests are made of. Each is checked as it is read, and says what is wrong with it."""

from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from hydrology.basins import basin_id
from hydrology.calendar import Day, Period, day
from hydrology.errors import InvalidInput

MOST_BASINS = 10_000
LONGEST_PERIOD_TEXT = 40


class RequestModel(BaseModel):
    """A part of a request. A number is a number there, not a text that could be read as one; an unknown field is
    refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def full_id(text: str) -> str:
    """Return the full identifier of a basin, refused as a validator does where it is none."""
    try:
        return basin_id(text)
    except InvalidInput as error:
        raise _refused("basin", str(error)) from None


def read_day(value: object) -> Day:
    """Read `YYYY-MM-DD` and nothing else: a number would be taken for the seconds since 1970."""
    if isinstance(value, Day):
        return day(value)
    try:
        parsed = day(value) if isinstance(value, str) else None
    except InvalidInput as error:
        raise _refused("day", str(error)) from None
    if parsed is None or str(parsed) != value:
        raise _refused("day", "not a day as it is written here: YYYY-MM-DD")
    return parsed


def read_period(value: object) -> Period:
    """Read `FIRST..LAST`, two days and all between them."""
    if isinstance(value, Period):
        return value
    if not isinstance(value, str) or len(value) > LONGEST_PERIOD_TEXT:
        raise _refused("period", "not a period: write FIRST..LAST, e.g. 1999-10-01..2008-09-30")
    try:
        return Period.parse(value)
    except InvalidInput as error:
        raise _refused("period", str(error)) from None


def _without_password(text: str) -> str:
    try:
        secret = "://" in text and "@" in urlsplit(text).netloc
    except ValueError:
        raise _refused("source", "not a URL that can be read") from None
    if secret:
        raise _refused("source", "a URL with a password would be shown to others: give one without")
    return text


def _refused(kind: str, sentence: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


Line = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$")]
"""A line of text that says something: no control characters, not blank."""
Name = Annotated[str, Field(pattern="^[0-9A-Za-z_.-]{1,64}$")]
Names = Annotated[tuple[Name, ...], Field(strict=False)]  # JSON has no tuples
Id = Annotated[str, Field(pattern="^[0-9A-Za-z_-]{1,64}$")]
Place = Annotated[
    str, AfterValidator(_without_password), Field(min_length=1, max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$")
]
"""A path or a URL to read data from."""

BASIN = "([0-9]{8,15}|[A-Z][A-Z0-9]{1,15}-[A-Za-z0-9_.]{1,40})"
"""What identifiers look like, for the documentation: what is wrong with one, `full_id` says."""
BASIN_SCHEMA: dict[str, Any] = {"pattern": f"^{BASIN}$"}
Basin = Annotated[str, AfterValidator(full_id), Field(json_schema_extra=BASIN_SCHEMA)]
Basins = Annotated[list[Basin], Field(max_length=MOST_BASINS, examples=[["USGS-01013500"]])]

DayField = Annotated[
    Day,
    PlainValidator(read_day),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "format": "date"}),
]
PeriodField = Annotated[
    Period,
    PlainValidator(read_period),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "maxLength": LONGEST_PERIOD_TEXT, "examples": ["1999-10-01..2008-09-30"]}),
]
