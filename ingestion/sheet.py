"""Reads tables with a line of column names from CSV or JSON. Rows of text with their line."""

import csv
import io
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput, counted
from hydrology.base.series import NUMBER, number_of
from hydrology.base.units import MAX_AREA_KM2
from ingestion.base import SourceError, SourceFile, column_label

# Parts of a faulty cell that errors may repeat: digits with signs and separators, and marks of missing values.
_SHOWN = re.compile(
    r"[-+0-9.,:/eE \u2212]{1,24}|[-+]?inf(inity)?|#?n/?a!?|nan|nul+|none|missing|m|-+|\?", re.ASCII | re.IGNORECASE
)
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # no database stores a NUL, or half of a surrogate pair of JSON
_AREAS = ("area_km2", "area")
_LIMITS = {
    **dict.fromkeys(("latitude", "gauge_lat"), (-90.0, 90.0)),
    **dict.fromkeys(("longitude", "gauge_lon"), (-180.0, 180.0)),
    **dict.fromkeys(_AREAS, (1e-6, MAX_AREA_KM2)),
}
_NOT_TEXT = {
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"PK\x03\x04": "a spreadsheet or a zip",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"\x1f\x8b": "packed by gzip",
}

Row = dict[str, str]
"""A row's cells by column, without blanks around them; missing cells are empty."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: an iterator over each row's line (in JSON its number) and cells, to be read once.

    The header is the line of column names; None in JSON, which has objects instead of lines.
    """

    file: SourceFile
    columns: list[str]
    rows: Iterator[tuple[int, Row]]
    header: int | None
    separator: str = "commas"

    @classmethod
    def of_csv(cls, file: SourceFile, content: bytes, delimiter: str = ",") -> Self:
        """Open a delimited table; later rows may raise SourceError too."""
        rows = _csv_rows(file, decoded(file, content), delimiter)
        header, columns = next(rows, (1, [""]))
        other = max(_SEPARATORS, key=columns[0].count)
        if len(columns) == 1 and other in columns[0]:
            cause = f"the columns are split by {_SEPARATORS[other]}"
            remedy = f"split them by {_SEPARATORS[delimiter]}, and write numbers with a decimal point, like 1.5"
            raise SourceError(file.name, cause, remedy, header)
        if "" in columns or len(set(columns)) < len(columns):
            raise SourceError(file.name, "a column has no name, or two have the same", "name every column once", header)
        records = ((line, dict(zip(columns, cells, strict=True))) for line, cells in rows)
        return cls(file, columns, records, header, _SEPARATORS[delimiter])

    @classmethod
    def of_json(cls, file: SourceFile, content: bytes) -> Self:
        """Parse a list of objects with column names. Missing names and null are empty."""
        remedy = 'write a list of objects, as in [{"name": 1.5}]'
        try:
            records = json.loads(decoded(file, content), object_pairs_hook=_named_once, parse_constant=str)
        except json.JSONDecodeError as error:
            raise SourceError(file.name, f"is not JSON from column {error.colno} on", remedy, error.lineno) from error
        except (ValueError, RecursionError) as error:
            cause = (
                "is not JSON as it is taken here: too deep, a number too long, or an object that names something twice"
            )
            raise SourceError(file.name, cause, remedy) from error
        if not isinstance(records, list) or not records or not all(isinstance(record, dict) for record in records):
            raise SourceError(file.name, "is not a list of objects", remedy)
        columns = list(dict.fromkeys(name for record in records for name in record))
        if (at := _unstorable_at(columns)) is not None:
            raise _unstorable(file, f"the name of column {at}")
        rows = (
            (number, {name: _json_cell(file, record.get(name), at, number) for at, name in enumerate(columns, 1)})
            for number, record in enumerate(records, 1)
        )
        return cls(file, columns, rows, None)

    def fault(self, cause: str, remedy: str, row: int | None = None) -> SourceError:
        """Return an error about this file, or about one of its rows."""
        if self.header is None and row is not None:
            return SourceError(self.file.name, f"object {row}: {cause}", remedy)
        return SourceError(self.file.name, cause, remedy, row)

    def require(self, names: tuple[str, ...]) -> None:
        """Refuse a table that lacks a column, or has other capital letters."""
        self.refuse_other_letters(names)
        if missing := [name for name in names if name not in self.columns]:
            raise self.fault(
                f"among the columns {', '.join(missing)} is missing",
                f"split the columns by {self.separator} and name {', '.join(names)} among them",
                self.header,
            )

    def refuse_other_letters(self, names: Collection[str]) -> None:
        """Refuse a table with a column whose name has other capital letters."""
        in_small = {name.lower(): name for name in names}
        for number, column in enumerate(self.columns, 1):
            name = in_small.get(column.lower())
            if name is not None and name != column and column not in names and name not in self.columns:
                cause = f"column {number} is {name} in other capital or small letters"
                raise self.fault(cause, f"name it {name}", self.header)

    def number(self, text: str, what: str, row: int) -> float:
        """Parse a finite number, written with a decimal point."""
        if not NUMBER.fullmatch(text) or not np.isfinite(value := float(text)):
            raise self.fault(f"{what} is not a number{_shown(text)}", _number_remedy(text), row)
        return value

    def attribute(self, text: str, name: str, row: int, known: Collection[str]) -> float:
        """Parse an attribute of a basin; a location and an area must be possible.

        `known` are the names that errors may repeat; others are named by the number of their column.
        """
        label = column_label(self.columns, name, known)
        if not text:
            raise self.fault(f"{label} is empty", "give the number", row)
        value = self.number(text, label, row)
        low, high = _LIMITS[name] if name in _LIMITS and name in known else (-np.inf, np.inf)
        if not low <= value <= high:
            remedy = "give it in km2: it looks like m2" if name in _AREAS and value > high else "mend the value"
            raise self.fault(f"{label} is outside {low:g} to {high:g} ({value:g})", remedy, row)
        return value

    def basin(self, text: str, cause: str, remedy: str, row: int) -> str:
        """Return the identifier of a basin (`hydrology.base.basins.basin_id`)."""
        try:
            return basin_id(text)
        except InvalidInput as error:
            raise self.fault(cause, remedy, row) from error

    def discharge(self, text: str, what: str, row: int) -> float:
        """Parse a gauge value as `number_of` does; digits must be a number."""
        try:
            return number_of(text)
        except ValueError:
            raise self.fault(f"{what} is not a number{_shown(text)}", _number_remedy(text), row) from None

    def day(self, text: str, row: int) -> Day:
        """Parse a calendar day written as YYYY-MM-DD."""
        try:
            day = date.fromisoformat(text)
        except ValueError:
            day = None
        if day is None or day.isoformat() != text:
            raise self.fault(f"the date is not a calendar day{_shown(text)}", "write it as YYYY-MM-DD", row)
        return np.datetime64(day, "D")


def decoded(file: SourceFile, content: bytes) -> str:
    """Decode UTF-8 bytes, which must not be empty."""
    if not content.strip():
        raise SourceError(file.name, "the file is empty", "give a file with content")
    for start, what in _NOT_TEXT.items():
        if content.startswith(start):
            raise SourceError(file.name, f"the file is {what}, not UTF-8 text", "save it as CSV in UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SourceError(file.name, "the line is not UTF-8 text", "save the file as text in UTF-8", line) from error


def _shown(text: str) -> str:
    return f" ({text})" if _SHOWN.fullmatch(text) else ""


def _number_remedy(text: str) -> str:
    if "," in text:
        return "write it with a decimal point and nothing between thousands, like 1234.5"
    return "write it like 1.5, or leave it empty where it is missing"


def _csv_rows(file: SourceFile, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield lines with cells that are not all blank, each as wide as the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    width, has_nul = None, "\0" in text  # UTF-8 has no halves of surrogate pairs
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            width = width or len(cells)
            if len(cells) != width:
                cause = f"the row has {counted(len(cells), 'column')} instead of {width}"
                remedy = "write numbers with a decimal point, and a text with a comma in quotes"
                raise SourceError(file.name, cause, remedy, reader.line_num)
            if has_nul and (at := _unstorable_at(cells)) is not None:
                raise _unstorable(file, f"column {at}", reader.line_num)
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise SourceError(file.name, f"is not CSV ({error})", "mend the line", reader.line_num) from error


def _unstorable_at(cells: list[str]) -> int | None:
    """Return the number of the first cell with a character that no database stores."""
    return next((at for at, cell in enumerate(cells, 1) if _UNSTORABLE.search(cell)), None)


def _unstorable(file: SourceFile, what: str, line: int | None = None) -> SourceError:
    cause = f"{what} has a character that cannot be stored: a NUL, or half of a surrogate pair"
    return SourceError(file.name, cause, "remove the character, or write the text anew", line)


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("an object names something twice")
    return names


def _json_cell(file: SourceFile, value: object, column: int, number: int) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise _unstorable(file, f"object {number}: column {column}")
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    cause = f"object {number}: column {column} is neither a number nor a text"
    raise SourceError(file.name, cause, "give a number, a text or null")
