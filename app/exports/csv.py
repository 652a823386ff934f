"""Tables as CSV [RFC 4180], in UTF-8: a header with the unit of each column, and nothing where there is no value."""

import csv
import io
import re
from collections.abc import Callable
from datetime import date
from typing import Any

from app.exports.table import Column, Kind, Table, instant_text

_SIGNS = "=+@\\-\uff1d\uff0b\uff20\uff0d\ufe66\ufe62\ufe6b\ufe63"
"""Signs that begin a formula, also in full width and small."""
_IGNORED = '\\s"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff'
_FORMULA = re.compile(f"(^|[;|\t\r\n])(?=[{_IGNORED}]*[{_SIGNS}])|^(?= *[\t\r])")
"""The beginning of a formula: of the text, or of what is a cell where a spreadsheet of another locale splits it."""


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
    """Put an apostrophe before whatever a spreadsheet would read as a formula."""
    return _FORMULA.sub(lambda found: f"{found[0]}'", text)


def _truth(value: bool) -> str:
    """Return a truth value as R, Excel and pandas all read it: `false` is a text in R."""
    return "TRUE" if value else "FALSE"


_CELLS: dict[Kind, Callable[[Any], str]] = {
    "text": _text,
    "number": repr,
    "integer": str,
    "truth": _truth,
    "day": date.isoformat,
    "instant": instant_text,
}
