"""Annual extremes: highest daily mean per water year, lowest 7-day mean per climatic year."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers
from hydrology.base.calendar import Days, Period, climatic_year, water_year

MAX_MISSING = 0.1
"""Largest share of a year's days that may be missing; their flow is unknown."""
LOW_FLOW_DAYS = 7


@dataclass(frozen=True, slots=True)
class Annual:
    """Annual values (years,) of years with enough days, those days (days,), and the number of other years."""

    values: Array
    days: Days
    left_out: int

    def __len__(self) -> int:
        return len(self.values)

    @property
    def period(self) -> Period | None:
        """From the first day of the first year to the last day of the last; None without such a year."""
        return Period(self.days[0], self.days[-1]) if len(self) else None


def annual_maxima(flow: npt.ArrayLike, days: Days) -> Annual:
    """Return the highest daily mean, of consecutive days, of each water year with at most 10 % missing (NaN)."""
    flow = np.asarray(flow, dtype=np.float64)
    return _annual(flow, flow, days, water_year(days), np.fmax)


def annual_minima(flow: npt.ArrayLike, days: Days) -> Annual:
    """Return the lowest mean of 7 known days within each climatic year with at most 10 % of its days missing."""
    flow, years = np.asarray(flow, dtype=np.float64), climatic_year(days)
    means = np.full(len(flow), np.nan)
    if len(flow) >= LOW_FLOW_DAYS:
        windows = np.lib.stride_tricks.sliding_window_view(flow, LOW_FLOW_DAYS).mean(axis=1)
        within = years[LOW_FLOW_DAYS - 1 :] == years[: 1 - LOW_FLOW_DAYS]
        means[LOW_FLOW_DAYS - 1 :] = np.where(within, windows, np.nan)
    return _annual(flow, means, days, years, np.fmin)


def _annual(flow: Array, candidates: Array, days: Days, years: Integers, extreme: np.ufunc) -> Annual:
    if not len(days):
        return Annual(np.empty(0), days, 0)
    _, first, count = np.unique(years, return_index=True, return_counts=True)
    known = np.add.reduceat((~np.isnan(flow)).astype(np.int64), first)
    # In the record's first and last year, the days outside the record are missing, too.
    enough = known >= (1 - MAX_MISSING) * np.maximum(count, 365)
    values = extreme.reduceat(candidates, first)[enough]
    return Annual(values, days[np.repeat(enough, count)], int((~enough).sum()))
