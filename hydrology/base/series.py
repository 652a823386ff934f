"""A daily series: consecutive days, with a value and a flag per day."""

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Days, Period, days_between

Values = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Flags = npt.NDArray[np.uint8]


class Flag(IntFlag):
    """Bits that qualify a day's value.

    A missing value is NaN, and its flag gives the reason. A gauge's value that is not APPROVED is provisional: its
    source may still revise it.
    """

    APPROVED = 1
    ESTIMATED = 2
    BELOW_LIMIT = 4
    MISSING = 8  # the source names the day and has no value for it
    ABSENT = 16  # the source does not list the day
    FILLED = 32
    SUSPECT = 64
    ICE = 128  # the river was frozen: the value is an estimate, or there is none


@dataclass(frozen=True, slots=True)
class DailySeries:
    """Values of consecutive days, NaN where missing, with a `Flag` mask each.

    The unit is as stored: `cfs`, `mm/day`, `degC`, `W/m2`, `Pa`, `s`, `mm`.
    """

    start: Day
    values: Values
    flags: Flags
    unit: str

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.flags.shape:
            raise ValueError("values and flags must be one-dimensional and of one length")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def period(self) -> Period:
        return Period(self.start, self.start + np.timedelta64(len(self.values) - 1, "D"))

    @property
    def days(self) -> Days:
        return self.period.days

    def over(self, period: Period) -> "DailySeries":
        """Return the series over a period: days outside it are dropped, days it lacks are NaN and ABSENT."""
        values = np.full(len(period), np.nan, dtype=self.values.dtype)
        flags = np.full(len(period), Flag.ABSENT, dtype=np.uint8)
        shared = self.period.overlap(period)
        if shared is not None:
            source, target = (
                slice(days_between(first, shared.first), days_between(first, shared.last) + 1)
                for first in (self.start, period.first)
            )
            values[target], flags[target] = self.values[source], self.flags[source]
        return DailySeries(period.first, values, flags, self.unit)
