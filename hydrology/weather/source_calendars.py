"""Fills days that a source's calendar lacks.

Daymet's years have 365 days, so leap years end on 30 December. The rule is that of the Daymet files of CAMELS (Newman
et al. 2015, doi:10.5194/hess-19-209-2015), in which 31 December of a leap year is the mean of 29 and 30 December in
every column, also of precipitation, which is unknown for that day. The value is FILLED, and every run that consumes it
counts it (`filled_forcing`).
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Mask
from hydrology.base.calendar import Day, Days, Period, day_of_year
from hydrology.base.series import DailySeries, Flag

_ROUNDING = 0.0051  # of the files: two decimals
_TWO_DAYS = np.timedelta64(2, "D")


def lacking(days: Days) -> Mask:
    """Return which days a calendar of 365 days lacks: 31 December of leap years."""
    return np.asarray(day_of_year(days) == 366)


def first_needed(first: Day) -> Day:
    """Return the first day to request from a source, so that a missing first day can be filled."""
    at_beginning = lacking(np.arange(first, first + _TWO_DAYS))
    return first - _TWO_DAYS if at_beginning.any() else first


def with_lacking_days(series: DailySeries, last: Day) -> DailySeries:
    """Fill the days that a series' calendar lacks, until a last day, where both days before are known."""
    following = min(last, series.period.last + np.timedelta64(1, "D"))
    grown = series.over(Period(series.start, max(series.period.last, following)))
    values, flags = grown.values.copy(), grown.flags.copy()
    for at in _places(grown):
        if np.isnan(values[at]) and not np.isnan(mean := _before(values, at)):
            values[at], flags[at] = mean, Flag.FILLED
    filled = DailySeries(grown.start, values, flags, grown.unit)
    return filled if flags[-1] & Flag.ABSENT == 0 else filled.over(series.period)


def with_lacking_days_marked(series: DailySeries) -> DailySeries:
    """Flag as FILLED the days that a source filled for its calendar: the mean of the two days before."""
    flags = series.flags.copy()
    for at in _places(series):
        if abs(_before(series.values, at) - float(series.values[at])) <= _ROUNDING:
            flags[at] |= Flag.FILLED
    return replace(series, flags=flags)


def _places(series: DailySeries) -> list[int]:
    return [int(at) for at in np.flatnonzero(lacking(series.days)) if at >= 2]


def _before(values: npt.NDArray[np.floating], at: int) -> float:
    return float(values[at - 2] + values[at - 1]) / 2
