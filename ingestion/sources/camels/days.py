"""Converts rows of days to daily series. Real calendar days in order, skipped days absent."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Days
from hydrology.base.series import DailySeries, Flag, Flags
from ingestion.sources.camels.text import Table

# No gauge is older, and a mistyped year must not create a series of a million absent days.
_FIRST_YEAR, _LAST_YEAR = 1800, 2199


def calendar_days(table: Table, year: str, month: str, day: str) -> Days:
    """Return the day of each row from three columns of numbers.

    Raises:
        SourceError: a row's numbers are not a calendar day.
    """
    columns = table[year], table[month], table[day]
    y, m, d = columns
    sound = (y >= _FIRST_YEAR) & (y <= _LAST_YEAR) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)
    y, m, d = (np.where(sound, part, 1) for part in columns)
    months = ((y - 1970) * 12 + m - 1).astype("int64").astype("datetime64[M]")
    days: Days = months.astype("datetime64[D]") + (d - 1).astype("timedelta64[D]")
    sound &= (y % 1 == 0) & (m % 1 == 0) & (d % 1 == 0) & (days.astype("datetime64[M]") == months)
    table.refuse(~sound, "the date is not a calendar day")
    return days


@dataclass(frozen=True, slots=True)
class Timeline:
    """The days of a table from the first to the last, and the day of each row."""

    start: Day
    position: npt.NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, days: Days) -> Self:
        """Create the timeline of the rows' days.

        Raises:
            SourceError: a day occurs twice or out of order.
        """
        position = (days - days[0]).astype(np.int64)
        step = np.diff(position, prepend=-1)
        table.refuse(step == 0, lambda row: f"the day {days[row]} comes twice")
        table.refuse(step < 0, lambda row: f"the day {days[row]} comes after {days[row - 1]}: out of order")
        return cls(days[0], position)

    def series(self, values: npt.NDArray[np.float64], flags: Flags, unit: str) -> DailySeries:
        """Return values and flags, one per row, as a daily series. Days without a row are NaN and ABSENT."""
        length = int(self.position[-1]) + 1
        all_values = np.full(length, np.nan)
        all_flags = np.full(length, Flag.ABSENT, dtype=np.uint8)
        all_values[self.position], all_flags[self.position] = values, flags
        return DailySeries(self.start, all_values, all_flags, unit)
