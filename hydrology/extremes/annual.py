"""Annual extremes (highest daily mean per water year, lowest 7-day mean per climatic year), and their trend.

Sources: Mann 1945, doi:10.2307/1907187; Kendall 1975, "Rank Correlation Methods" (the test, with ties); Sen 1968,
doi:10.1080/01621459.1968.10480934 (the slope: the median of those between all pairs of years). Slopes are of
logarithms, as floods grow in proportion.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers
from hydrology.base.calendar import Days, Period, climatic_year, water_year
from hydrology.base.doc import Doc

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


SIGNIFICANT = 0.05
"""Probability under independence below which a trend counts as one."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The trend of annual floods: Mann-Kendall's test and Sen's slope.

    The test is two-sided. The slope is between years with flow, and 0 with fewer than two.
    """

    tau: Annotated[float, Doc("Kendall's rank correlation of floods with years, from -1 to 1.")]
    p_value: Annotated[float, Doc("Chance of as strong a trend among independent years.")]
    percent_per_year: Annotated[float, Doc("Median growth between pairs of years.")]
    adjusted: Annotated[
        bool,
        Doc(
            "Whether the levels are for the conditions of the last year: where that is set for the basin "
            "(`flood_frequency`) and the chance is below 0.05."
        ),
    ]
    last_year: Annotated[int, Doc("Water year.")]


def trend_of(values: npt.ArrayLike, years: Integers, *, adjust: bool = False) -> Trend | None:
    """Return the trend of annual values (years,), none below 0; None for fewer than three.

    With `adjust`, levels are to be adjusted, if the trend is significant.
    """
    values = np.asarray(values, np.float64)
    n = len(values)
    if n < 3:
        return None
    first, second = np.triu_indices(n, 1)
    score = float(np.sign(values[second] - values[first]).sum())
    _, ties = np.unique(values, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
    z = (score - np.sign(score)) / math.sqrt(variance) if variance > 0 else 0.0
    p_value = math.erfc(abs(z) / math.sqrt(2))
    growth = 100 * math.expm1(math.log(10) * sen_slope(values, years))
    tau = score / (n * (n - 1) / 2)
    return Trend(tau, p_value, growth, adjust and p_value < SIGNIFICANT, int(years[-1]))


def sen_slope(values: Array, years: Integers) -> float:
    """Return the median slope of the common logarithms between all pairs of years with flow, per year."""
    wet = values > 0
    logs, at = np.log10(values[wet]), years[wet]
    if len(logs) < 2:
        return 0.0
    first, second = np.triu_indices(len(logs), 1)
    return float(np.median((logs[second] - logs[first]) / (at[second] - at[first])))


def without_trend(values: Array, years: Integers) -> Array:
    """Return annual values as they would be under the conditions of the last year; dry years stay dry."""
    return np.asarray(values * 10 ** (sen_slope(values, years) * (years[-1] - years)))
