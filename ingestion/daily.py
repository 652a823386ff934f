"""Converts rows of days to daily series: real days in order, physically possible values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days
from hydrology.base.products import DISCHARGE, Quantity
from hydrology.base.series import DailySeries, Flag, Flags, screened
from hydrology.weather.runoff import unit_hint
from ingestion.base import SourceError, SourceFile
from ingestion.sheet import Row, Sheet

Numbers = npt.NDArray[np.float64]

# No gauge is older, and a mistyped year must not create a series of a million absent days.
_FIRST_DAY, _LAST_DAY = np.datetime64("1800-01-01"), np.datetime64("2199-12-31")


@dataclass(frozen=True, slots=True)
class ReadSeries(DailySeries):
    """A series as a file has it.

    `lines` has the line of each day; 0 where the file has no line of it.
    """

    column: str
    lines: npt.NDArray[np.int64]


def daily_series(days: Days, values: Numbers, unit: str, flags: Flags | None = None) -> DailySeries:
    """Return values of days in any order as a consecutive series. Missing days are ABSENT.

    `flags` are MISSING by default where a value is NaN.
    """
    if flags is None:
        flags = np.where(np.isnan(values), Flag.MISSING, 0).astype(np.uint8)
    places = (days - days.min()).astype(np.int64)
    length = int(places.max()) + 1
    all_values, all_flags = np.full(length, np.nan), np.full(length, Flag.ABSENT, dtype=np.uint8)
    all_values[places], all_flags[places] = values, flags
    return DailySeries(days.min(), all_values, all_flags, unit)


def refuse_rows(
    file: SourceFile,
    lines: Sequence[int] | None,
    bad: npt.NDArray[np.bool_],
    cause: str | Callable[[int], str],
    remedy: str,
) -> None:
    """Refuse a file if a row is bad.

    `lines` is None where the file has none; `cause` may be a function of the row's number. The SourceError names the
    line of the first bad row.
    """
    if bad.any():
        row = int(bad.argmax())
        what = cause if isinstance(cause, str) else cause(row)
        raise SourceError(file.name, what, remedy, None if lines is None else lines[row])


@dataclass(frozen=True, slots=True)
class DailyRows:
    """The days of one basin's rows in a file, checked.

    A day that repeats, is out of order or before any gauge is refused. `lines` is None where the file has none;
    `where_missing` is how it marks a missing value, for errors.
    """

    file: SourceFile
    days: Days
    lines: Sequence[int] | None = None
    where_missing: str = "leave it empty where it is missing"

    def __post_init__(self) -> None:
        days = self.days
        out = (days < _FIRST_DAY) | (days > _LAST_DAY)
        cause = f"is outside {_FIRST_DAY} to {_LAST_DAY}"
        refuse_rows(self.file, self.lines, out, lambda row: f"the day {days[row]} {cause}", "mend the day")
        bad = np.diff(days, prepend=days[:1] - 1).astype(np.int64) <= 0
        refuse_rows(self.file, self.lines, bad, self._out_of_order, "give each day once, in order")

    def check(self, values: Numbers, quantity: Quantity, column: str, *, may_lack: bool = False) -> None:
        """Refuse a column with an impossible value, or without one unless it `may_lack` some (NaN)."""
        outside = ~((quantity.lowest <= values) & (values <= quantity.highest))
        refuse_rows(
            self.file,
            self.lines,
            outside & ~np.isnan(values) if may_lack else outside,
            lambda row: (
                f"{column} on {self.days[row]} is outside {quantity.lowest:g} to {quantity.highest:g} {quantity.unit} "
                f"({values[row]:g}){unit_hint(quantity.variable, values)}"
            ),
            f"convert the column if it is not in {quantity.unit}, correct the value, or {self.where_missing}",
        )

    def read(self, values: Numbers, unit: str, column: str, flags: Flags | None = None) -> ReadSeries:
        """Return a column of all rows as a series, as `daily_series` does."""
        daily = daily_series(self.days, values, unit, flags)
        lines = np.zeros(len(daily), dtype=np.int64)
        if self.lines is not None:
            lines[(self.days - daily.start).astype(np.int64)] = self.lines
        return ReadSeries(daily.start, daily.values, daily.flags, unit, column, lines)

    def series(self, values: Numbers, quantity: Quantity, column: str) -> DailySeries | None:
        """Return a column as a series from its first to its last value; None where it has none.

        Inside, NaN in the column is MISSING, and a day without a row is NaN and ABSENT. Discharge is screened first.
        """
        flags = None
        if quantity.variable == DISCHARGE:
            values, flags = screened(values)
        self.check(values, quantity, column, may_lack=True)
        given = ~np.isnan(values) if flags is None else ~np.isnan(values) | (flags & Flag.SUSPECT != 0)
        if not given.any():
            return None
        first, last = np.flatnonzero(given)[[0, -1]].tolist()
        span = slice(first, last + 1)
        part = DailyRows(self.file, self.days[span], None if self.lines is None else self.lines[span])
        return part.read(values[span], quantity.unit, column, None if flags is None else flags[span])

    def _out_of_order(self, row: int) -> str:
        day = self.days[row]
        first = int((self.days == day).argmax())
        if first == row:
            return f"the day {day} comes after {self.days[row - 1]}: out of order"
        return f"the day {day} comes twice" + ("" if self.lines is None else f", first in line {self.lines[first]}")


def read_days(
    sheet: Sheet,
    columns: Mapping[str, Quantity],
    basin_of: Callable[[Row, int], str],
    missing: tuple[str, ...] = ("",),
) -> dict[str, tuple[DailyRows, dict[str, Numbers]]]:
    """Read a table with a column `date` and a row for each day, or for each basin and day.

    `basin_of` gets a row and its line; `missing` are cells without a value, in lower case. Return by basin its days,
    and its values by column, NaN where missing.
    """
    readers = {
        name: sheet.discharge if quantity.variable == DISCHARGE else sheet.number for name, quantity in columns.items()
    }
    basins: dict[str, tuple[list[np.datetime64], list[int], list[list[float]]]] = {}
    for line, row in sheet.rows:
        days, lines, values = basins.setdefault(basin_of(row, line), ([], [], []))
        days.append(sheet.day(row["date"], line))
        lines.append(line)
        cells = ((name, row[name], read) for name, read in readers.items())
        values.append([np.nan if cell.lower() in missing else read(cell, name, line) for name, cell, read in cells])
    return {
        basin: (
            DailyRows(sheet.file, np.array(days, dtype="datetime64[D]"), None if sheet.header is None else lines),
            dict(zip(columns, np.array(values).T, strict=True)),
        )
        for basin, (days, lines, values) in basins.items()
    }
