"""Text files with a table of rows, and errors with their line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ingestion.base import SourceError, SourceFile

_Converters = dict[int | str, Callable[[str], float]]

MEND_ROW = "mend the line or fetch the file again"


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file, without their ends."""

    file: SourceFile
    lines: list[str]

    @classmethod
    def decode(cls, file: SourceFile, content: bytes) -> Self:
        """Split UTF-8 bytes into lines.

        Raises:
            SourceError: there are none, or they are not text.
        """
        if not content.strip():
            raise SourceError(file.name, "the file is empty", "fetch the file again")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise SourceError(file.name, "the line is not UTF-8 text", MEND_ROW, line) from error
        return cls(file, [line.rstrip("\r") for line in text.rstrip("\r\n").split("\n")])

    def fault(self, cause: str, remedy: str, line: int | None = None) -> SourceError:
        """Return an error about this file; lines are counted from 1."""
        return SourceError(self.file.name, cause, remedy, line)

    def number(self, text: str, what: str, line: int) -> float:
        """Parse a finite number.

        Raises:
            SourceError: the text is not a finite number.
        """
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
    def parse(
        cls,
        text: TextFile,
        first: int,
        columns: list[tuple[str, str]],
        delimiter: str | None = None,
        converters: _Converters | None = None,
    ) -> Self:
        """Parse all lines after the header at once. Only on failure find the line at fault.

        Args:
            text: the file.
            first: number of header lines.
            columns: name, which errors repeat, and numpy type of each column.
            delimiter: separates the columns; None for any blanks.
            converters: by column, converts its text to a number.

        Raises:
            SourceError: there is no row, or one has too few or too many columns or text for a number.
        """
        lines = text.lines[first:]
        if not any(line.strip() for line in lines):
            raise text.fault("there is no row after the header", "fetch the file again")
        try:
            rows = np.loadtxt(
                lines,
                dtype=np.dtype(columns),
                comments=None,
                delimiter=delimiter,
                converters=converters,
                ndmin=1,
            )
        except ValueError as error:
            for number, line in enumerate(lines, first + 1):
                cause = _fault(line, columns, delimiter, converters or {}) if line.strip() else None
                if cause is not None:
                    raise text.fault(cause, MEND_ROW, number) from error
            raise text.fault("the rows cannot be read", "fetch the file again") from error
        return cls(text, first, rows)

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self.rows[column]
        return values

    def refuse(self, bad: npt.NDArray[np.bool_], cause: str | Callable[[int], str], remedy: str = MEND_ROW) -> None:
        """Refuse the file if a row is bad.

        Raises:
            SourceError: names the line of the first bad row; a `cause` that depends on the row is called with its
                number.
        """
        if not bad.any():
            return
        row = int(bad.argmax())
        filled = [line for line, text in enumerate(self.text.lines, 1) if line > self.first and text.strip()]
        raise self.text.fault(cause if isinstance(cause, str) else cause(row), remedy, filled[row])


def _fault(
    line: str,
    columns: list[tuple[str, str]],
    delimiter: str | None,
    converters: _Converters,
) -> str | None:
    fields = line.split(delimiter)
    if len(fields) != len(columns):
        cut = "the row is cut: it" if len(fields) < len(columns) else "the row"
        return f"{cut} has {len(fields)} columns instead of {len(columns)}"
    for index, (field, (name, kind)) in enumerate(zip(fields, columns, strict=True)):
        try:
            converters.get(index, np.dtype(kind).type)(field)
        except ValueError:
            return f"column {index + 1} cannot be read as {name}"
    return None
