"""Types of request fields, each of which checks its value; and the faults of a request, in words safe to show."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day, Period, day, zone
from hydrology.base.errors import InvalidInput, is_shown, printable, without_prefix
from hydrology.base.products import own_product
from hydrology.climatology.volumes import SEASON, Season

MAX_FAULTS = 10  # nobody reads thousands of sentences


def faults(error: ValidationError, request: object, name: Callable[[str], str] = str) -> str:
    """Describe each faulty field of a request, with its path; without one, the whole request."""
    details = error.errors(include_url=False)[:MAX_FAULTS]
    return "; ".join(
        ": ".join(filter(None, (name(path(detail["loc"], detail["type"], request)), _beginning(detail))))
        for detail in details
    )


def path(loc: Sequence[int | str], kind: str, value: Any) -> str:
    """Return a field's path as the request writes it, without pydantic's union tags."""
    parts = []
    for at, part in enumerate(loc):
        inside = _holds(value, part)
        if inside:
            value = value[part]
        if inside or (kind == "missing" and at == len(loc) - 1):
            parts.append(shown(part) if isinstance(part, str) else str(part))
    return ".".join(parts)


def _holds(value: Any, part: int | str) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def message(detail: Mapping[str, Any]) -> str:
    """Describe the fault of a field, rewording pydantic's internal messages."""
    match detail["type"]:
        case "extra_forbidden":
            return "there is no such field"
        case "missing":
            return "it is needed"
        case "model_attributes_type" | "model_type" | "dict_type":
            return 'it must be a JSON object, {"name": value}'
        case "string_pattern_mismatch":
            words = words_of(detail["ctx"]["pattern"])
            return "it does not have the form that /docs gives" if words is None else f"it must be {words}"
        case "union_tag_invalid":
            tag, field, known = (detail["ctx"][name] for name in ("tag", "discriminator", "expected_tags"))
            return f"{field} must be one of {known}, not '{tag[:64]}'"
    return without_prefix(str(detail["msg"]))


def _beginning(detail: ErrorDetails) -> str:
    text = message(detail).rstrip(".")
    # Pydantic repeats a union's tag exactly as the request gives it.
    return printable(text[:1].lower() + text[1:300])


def shown(text: str) -> str:
    """Return a name from a request in a form that is safe to show."""
    is_name = text.isidentifier() and text.isascii() and len(text) <= 64
    return text if is_name else ascii(text[:64])


_WORDS: dict[str, str] = {}


def form(pattern: str, words: str) -> str:
    """Return a pattern, and note its words with an example."""
    _WORDS[pattern] = words
    return pattern


def words_of(pattern: str) -> str | None:
    """Return the words of a pattern; None where it has none."""
    return _WORDS.get(pattern)


MAX_BASINS = 10_000
MAX_PERIOD_TEXT = 40


class RequestModel(BaseModel):
    """A part of a request. Types are strict (the text "3" is not a number) and unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def examples(*requests: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a model whose documentation has examples."""
    return ConfigDict(json_schema_extra={"examples": list(requests)})


@contextmanager
def refusing(kind: str) -> Iterator[None]:
    """Turn an InvalidInput into a validator's error with the same message."""
    try:
        yield
    except InvalidInput as error:
        raise PydanticCustomError(kind, "{sentence}", {"sentence": str(error)}) from None


def _time_zone(name: str) -> str:
    with refusing("zone"):
        zone(name)
    return name


TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""The name of a time zone."""


def full_id(text: str) -> str:
    """Return a basin's full identifier; refuse spaces around it."""
    with refusing("basin"):
        if text != text.strip():
            raise InvalidInput(f"{text!r} is not a basin identifier: leave out the spaces and line ends around it.")
        return basin_id(text)


def read_day(value: object) -> Day:
    """Read `YYYY-MM-DD` only: pydantic would take a number for seconds since 1970."""
    if isinstance(value, Day):
        return day(value)
    with refusing("day"):
        parsed = day(value) if isinstance(value, str) else None
    if parsed is None or str(parsed) != value:
        raise PydanticCustomError("day", "not a day: write YYYY-MM-DD")
    return parsed


def read_period(value: object) -> Period:
    """Read `FIRST..LAST`, both days included."""
    if isinstance(value, Period):
        return value
    if not isinstance(value, str) or len(value) > MAX_PERIOD_TEXT:
        raise PydanticCustomError("period", "not a period: write FIRST..LAST, e.g. 1999-10-01..2008-09-30")
    with refusing("period"):
        return Period.parse(value)


def read_season(value: object) -> Season:
    """Read `MM-DD..MM-DD`: the same days of every year."""
    if isinstance(value, Season):
        return value
    if not isinstance(value, str):
        raise PydanticCustomError("season", "not a part of the year: write MM-DD..MM-DD, e.g. 04-01..07-31")
    with refusing("season"):
        return Season.parse(value)


def named_own_product(name: str) -> str:
    """Return the name of a product that no published archive has."""
    with refusing("product"):
        return own_product(name)


def _without_password(text: str) -> str:
    try:
        secret = "://" in text and "@" in urlsplit(text).netloc
    except ValueError:
        raise PydanticCustomError("source", "not a valid URL") from None
    if secret:
        raise PydanticCustomError(
            "source", "a URL with a password would be shown to others: give one without a password"
        )
    return text


def discriminated_by(field: str, noun: str, values: Sequence[str]) -> Discriminator:
    """Return a union's discriminator by a field; its first value is default."""

    def value(part: Any) -> Any:
        return part.get(field, values[0]) if isinstance(part, dict) else getattr(part, field, None)

    sentence = f"choose {noun}: {', '.join(values)}"
    return Discriminator(value, custom_error_type=field, custom_error_message=sentence)


def _shown(text: str) -> str:
    """Refuse a text with characters that do not show, or that change the direction or the joining of others."""
    hidden = next((letter for letter in text if not is_shown(letter)), None)
    if hidden is not None:
        raise PydanticCustomError(
            "printable",
            "printable characters and simple spaces alone: leave out U+{code} ({name})",
            {"code": f"{ord(hidden):04X}", "name": unicodedata.name(hidden, "a control character").lower()},
        )
    return text


def _shown_in_lines(text: str) -> str:
    """Refuse what `_shown` does, but not line ends and tabs."""
    _shown("".join(letter for letter in text if letter not in "\n\r\t"))
    return text


Printable = AfterValidator(_shown)
"""For every field of free text that one line shows."""
PrintableLines = AfterValidator(_shown_in_lines)
_LINE = form(
    r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
    "text on one line, not blank and without control characters, such as Boise River",
)
Line = Annotated[str, Printable, Field(max_length=200, pattern=_LINE)]
"""A line of text: not blank, and of printable characters alone."""
Note = Annotated[str, Printable, Field(max_length=1000, pattern=_LINE)]
"""A longer text on one line."""
NAME = "[0-9A-Za-z_-][0-9A-Za-z_.-]{0,63}"
"""The pattern of names. They cannot start with a dot, which would make an address ambiguous."""
NAMED = form(f"^{NAME}$", "1 to 64 letters, digits, -, _ or dots, the first no dot, such as maurer_extended")
Name = Annotated[str, Field(pattern=NAMED)]
Names = Annotated[tuple[Name, ...], Field(strict=False)]  # JSON has no tuples
ID = form("^[0-9A-Za-z_-]{1,64}$", "an id of 1 to 64 letters, digits, - or _, such as 01a1fa2ab3c4d50b5f2e91")
Id = Annotated[str, Field(pattern=ID)]
Place = Annotated[
    str,
    AfterValidator(_without_password),
    Printable,
    Field(
        min_length=1,
        max_length=2000,
        pattern=form(r"^[^\x00-\x1f\x7f]*$", "a path or a URL without control characters, such as /srv/camels"),
    ),
]
"""A path or a URL to read data from."""

BASIN = "([0-9]{8,15}|[A-Z][A-Z0-9]{1,15}-[A-Za-z0-9_][A-Za-z0-9_.]{0,39})"
"""The pattern of identifiers, for the documentation; `full_id` does the checking."""
BASIN_WORDS = "a site number or a namespace, a hyphen and a name, such as USGS-01013500"
BASIN_SCHEMA: dict[str, Any] = {"pattern": f"^{BASIN}$"}
Basin = Annotated[str, AfterValidator(full_id), Field(json_schema_extra=BASIN_SCHEMA)]
Basins = Annotated[list[Basin], Field(max_length=MAX_BASINS, examples=[["USGS-01013500"]])]

_TEXT = PlainSerializer(str, return_type=str)
_DAY = WithJsonSchema({"type": "string", "format": "date"})
DayField = Annotated[Day, PlainValidator(read_day), _TEXT, _DAY]
_PERIOD = WithJsonSchema({"type": "string", "maxLength": MAX_PERIOD_TEXT, "examples": ["1999-10-01..2008-09-30"]})
PeriodField = Annotated[Period, PlainValidator(read_period), _TEXT, _PERIOD]
_SEASON = WithJsonSchema({"type": "string", "pattern": SEASON, "examples": ["04-01..07-31"]})
SeasonField = Annotated[Season, PlainValidator(read_season), _TEXT, _SEASON]
