"""Tables as CSV [RFC 4180], in UTF-8: a header with the unit of each column, and nothing where there is no value."""

import csv
import io
from collections.abc import Callable
from datetime import date
from typing import Any

from app.exports.table import Column, Kind, Table, instant_text

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet compute a text."""


def write(table: Table) -> bytes:
    """Return a table as a file."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([_heading(column) for column in table.columns])
    cells = [_CELLS[column.kind] for column in table.columns]
    for row in table.rows:
        writer.writerow(["" if value is None else cell(value) for cell, value in zip(cells, row, strict=True)])
    return file.getvalue().encode()


def _heading(column: Column) -> str:
    return _text(column.name if column.unit is None else f"{column.name} [{column.unit}]")


def _text(text: str) -> str:
    """Prefix an apostrophe if a spreadsheet would read the text as a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _truth(value: bool) -> str:
    return "true" if value else "false"


_CELLS: dict[Kind, Callable[[Any], str]] = {
    "text": _text,
    "number": repr,
    "integer": str,
    "truth": _truth,
    "day": date.isoformat,
    "instant": instant_text,
}
