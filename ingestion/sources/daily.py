"""Converts rows of days to daily series. Real days in order, physically possible values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days
from hydrology.base.discharge_values import screened
from hydrology.base.series import DailySeries, Flag
from hydrology.base.variables import DISCHARGE, Quantity
from hydrology.weather.unit_hints import unit_hint
from ingestion.base import SourceError, SourceFile
from ingestion.sources.camels.days import Timeline

# No gauge is older, and a mistyped year must not create a series of a million absent days.
_FIRST_DAY, _LAST_DAY = np.datetime64("1800-01-01"), np.datetime64("2199-12-31")

_MEND_DAYS = "give each day once, in order"


@dataclass(frozen=True, slots=True)
class DailyRows:
    """The days of one basin's rows in a file, checked.

    Attributes:
        file: their file.
        days: one per row, ascending.
        lines: the line of each row, or None where the file has no lines.

    Raises:
        SourceError: a day occurs twice or out of order, or is before any gauge.
    """

    file: SourceFile
    days: Days
    lines: Sequence[int] | None = None

    def __post_init__(self) -> None:
        days = self.days
        out = (days < _FIRST_DAY) | (days > _LAST_DAY)
        self.refuse(out, lambda row: f"the day {days[row]} is outside {_FIRST_DAY} to {_LAST_DAY}", "mend the day")
        bad = np.diff(days, prepend=days[:1] - 1).astype(np.int64) <= 0
        self.refuse(bad, self._out_of_order, _MEND_DAYS)

    def refuse(self, bad: npt.NDArray[np.bool_], cause: Callable[[int], str], remedy: str) -> None:
        """Refuse the file if a row is bad.

        Raises:
            SourceError: names the line of the first bad row; `cause` is called with that row's number.
        """
        if bad.any():
            row = int(bad.argmax())
            raise SourceError(self.file.name, cause(row), remedy, self._line(row))

    def series(self, values: npt.NDArray[np.float64], quantity: Quantity, column: str) -> DailySeries | None:
        """Return a column as a series from its first to its last value; None where it has none.

        Inside, NaN in the column is MISSING, and a day without a row is NaN and ABSENT. Discharge is screened first.

        Raises:
            SourceError: a value is outside the limits.
        """
        flags = None
        if quantity.variable == DISCHARGE:
            values, flags = screened(values)
        self.refuse(
            ~np.isnan(values) & ~((quantity.lowest <= values) & (values <= quantity.highest)),
            lambda row: (
                f"{column} on {self.days[row]} is outside {quantity.lowest:g} to {quantity.highest:g} {quantity.unit} "
                f"({values[row]:g}){unit_hint(quantity.variable, values)}"
            ),
            f"convert the column if it is not in {quantity.unit}, correct the value, or leave it empty where it is "
            "missing",
        )
        if flags is None:
            flags = np.where(np.isnan(values), Flag.MISSING, 0).astype(np.uint8)
        with_value = np.flatnonzero(~np.isnan(values) | (flags & Flag.SUSPECT != 0))
        if not len(with_value):
            return None
        span = slice(int(with_value[0]), int(with_value[-1]) + 1)
        days = self.days[span]
        timeline = Timeline(days[0], (days - days[0]).astype(np.int64))
        return timeline.series(values[span], flags[span], quantity.unit)

    def _line(self, row: int) -> int | None:
        return None if self.lines is None else self.lines[row]

    def _out_of_order(self, row: int) -> str:
        day = self.days[row]
        first = int((self.days == day).argmax())
        if first == row:
            return f"the day {day} comes after {self.days[row - 1]}: out of order"
        line = self._line(first)
        return f"the day {day} comes twice" + ("" if line is None else f", first in line {line}")
