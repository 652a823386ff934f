"""Tests annual values for a trend, and removes it.

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
from hydrology.base.doc import Doc

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
