"""Text files with a table of rows, and errors with their line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days
from hydrology.base.errors import counted
from hydrology.base.products import Quantity
from hydrology.base.series import DailySeries
from ingestion.base import SourceError, SourceFile
from ingestion.daily import DailyRows, refuse_rows
from ingestion.sheet import decoded

MEND_ROW = "mend the line or fetch the file again"
_NO_TEXTS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file, without their ends."""

    file: SourceFile
    lines: list[str]

    @classmethod
    def decode(cls, file: SourceFile, content: bytes) -> Self:
        """Split UTF-8 bytes into lines, at least one."""
        return cls(file, [line.rstrip("\r") for line in decoded(file, content).rstrip("\r\n").split("\n")])

    def fault(self, cause: str, remedy: str, line: int | None = None) -> SourceError:
        """Return an error about this file; lines are counted from 1."""
        return SourceError(self.file.name, cause, remedy, line)

    def number(self, text: str, what: str, line: int) -> float:
        """Parse a finite number."""
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.fault(f"{what} is not a number", MEND_ROW, line)
        return value


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a text file as a structured array, one field per column, after `first` lines of header."""

    text: TextFile
    first: int
    rows: npt.NDArray[Any]

    @classmethod
    def parse(cls, text: TextFile, first: int, names: Sequence[str], texts: Mapping[str, int] = _NO_TEXTS) -> Self:
        """Parse all lines after the header at once. Only on failure find the line at fault.

        Errors repeat the `names` of columns; `texts` has the longest text of each column that holds no numbers.
        """
        columns = [(name, f"U{texts[name]}" if name in texts else "f8") for name in names]
        lines = text.lines[first:]
        if not any(line.strip() for line in lines):
            raise text.fault("there is no row after the header", "fetch the file again")
        try:
            rows = np.loadtxt(lines, dtype=np.dtype(columns), comments=None, ndmin=1)
        except ValueError as error:
            for number, line in enumerate(lines, first + 1):
                if line.strip() and (cause := _fault(line.split(), columns)):
                    raise text.fault(cause, MEND_ROW, number) from error
            raise text.fault("the rows cannot be read", "fetch the file again") from error
        return cls(text, first, rows)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self.rows[column]
        return values

    @property
    def lines(self) -> list[int]:
        """The line of each row."""
        return [number for number, line in enumerate(self.text.lines, 1) if number > self.first and line.strip()]

    def refuse(self, bad: npt.NDArray[np.bool_], cause: str | Callable[[int], str], remedy: str = MEND_ROW) -> None:
        """Refuse the file if a row is bad, as `refuse_rows` does."""
        refuse_rows(self.text.file, self.lines if bad.any() else None, bad, cause, remedy)

    def daily(self, date: Sequence[str]) -> DailyRows:
        """Return the rows' days from columns of year, month and day numbers."""
        y, m, d = (np.nan_to_num(self[name], posinf=0) for name in date[:3])
        sound = (y >= 1) & (y <= 9999) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)
        y, m, d = (np.where(sound, part, 1) for part in (y, m, d))
        months = ((y - 1970) * 12 + m - 1).astype("int64").astype("datetime64[M]")
        days: Days = months.astype("datetime64[D]") + (d - 1).astype("timedelta64[D]")
        sound &= (y % 1 == 0) & (m % 1 == 0) & (d % 1 == 0) & (days.astype("datetime64[M]") == months)
        self.refuse(~sound, "the date is not a calendar day")
        return DailyRows(self.text.file, days, self.lines, "delete the line if the day is missing")

    def series(self, date: Sequence[str], quantities: Mapping[str, Quantity]) -> dict[str, DailySeries]:
        """Return the series of columns without missing values, by variable. Skipped days are ABSENT."""
        rows = self.daily(date)
        for name, quantity in quantities.items():
            rows.check(self[name], quantity, name)
        return {quantity.variable: rows.read(self[name], quantity.unit, name) for name, quantity in quantities.items()}


def _fault(cells: list[str], columns: list[tuple[str, str]]) -> str | None:
    if len(cells) != len(columns):
        cut = "the row is cut: it" if len(cells) < len(columns) else "the row"
        return f"{cut} has {counted(len(cells), 'column')} instead of {len(columns)}"
    for number, (cell, (name, kind)) in enumerate(zip(cells, columns, strict=True), 1):
        try:
            np.dtype(kind).type(cell)
        except ValueError:
            return f"column {number} cannot be read as {name}"
    return None
