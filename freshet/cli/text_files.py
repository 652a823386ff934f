"""Files that commands read, and their content checked against its contract."""

import codecs
import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.ratings import MAX_CHARACTERS
from jobspec.fields import faults

_ENCODINGS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""By the byte-order mark that editors write first; without one it is UTF-8."""
_MAX_BYTES = 4 * MAX_CHARACTERS
Fields = dict[str, Any]
T = TypeVar("T")


def listed(file: Path | None) -> list[str]:
    """Return the basins that a file lists, one a line; blank lines and what follows a # are skipped."""
    if file is None:
        return []
    lines = enumerate((line.partition("#")[0].strip() for line in read_text(file).splitlines()), start=1)
    names = [_basin(file, number, text) for number, text in lines if text]
    if not names:
        raise InvalidInput(f"The list of basins {file} names none: write one basin on each line, or leave it out.")
    return names


def _basin(file: Path, line: int, text: str) -> str:
    try:
        return basin_id(text)
    except InvalidInput as error:
        raise InvalidInput(f"{file}, line {line}: {error}") from None


def read_text(file: Path) -> str:
    """Return the text of a file of limited size, in UTF-8 or, with a byte-order mark, UTF-16."""
    try:
        with file.open("rb") as opened_file:
            content = opened_file.read(_MAX_BYTES + 1)
        encoding = next((name for mark, name in _ENCODINGS.items() if content.startswith(mark)), "utf-8")
        text = "" if len(content) > _MAX_BYTES else content.decode(encoding)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"The file {file} cannot be read ({reason}): give a text file.") from error
    if len(content) > _MAX_BYTES or len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"The file {file} has more than {MAX_CHARACTERS} characters: give a shorter one.")
    return text


def read_json(file: Path) -> Any:
    """Return the content of a JSON file of limited size."""
    try:
        return json.loads(read_text(file))
    except (ValueError, RecursionError):
        raise DataProblem(f"{file} is not JSON: write it as an object.") from None


def of_file(file: Path | None) -> Fields:
    """Return a JSON or TOML file's fields; errors never quote it."""
    if file is None:
        return {}
    try:
        content = read_text(file)
        fields = tomllib.loads(content) if file.suffix == ".toml" else json.loads(content)
    except (ValueError, RecursionError):
        raise _unreadable(file, f"it is not {'TOML' if file.suffix == '.toml' else 'JSON'}") from None
    if not isinstance(fields, dict):
        raise _unreadable(file, "it is not an object")
    return fields


def valid(contract: type[T] | TypeAdapter[T], fields: Any, work: str, note: str = "") -> T:
    """Return the validated object that the fields describe; errors name the field."""
    try:
        return (contract if isinstance(contract, TypeAdapter) else TypeAdapter(contract)).validate_python(fields)
    except ValidationError as error:
        raise InvalidInput(f"The {work} is not possible{note}: {faults(error, fields)}.") from None


def _unreadable(file: Path, why: str | None) -> InvalidInput:
    return InvalidInput(f"The configuration {file} cannot be read ({why}): give a JSON or TOML file.")
