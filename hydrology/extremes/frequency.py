"""Frequency analysis of annual extreme flows, with two distributions and confidence intervals.

Years without flow are not part of a distribution. With the share p0 of them, a level of non-exceedance probability F is
that of (F - p0) / (1 - p0) in the distribution of the others, and 0 where F is at most p0: the conditional probability
adjustment of Jennings and Benson 1969, doi:10.1029/WR005i001p00276, as in Bulletin 17B, appendix 5.

Intervals are of a parametric bootstrap: samples as long as the record are drawn from the fit and fitted anew, and the
interval leaves 5 % of their levels out at either end (Efron 1979, doi:10.1214/aos/1176344552). They show by how much
the choice of years could have changed the level if the years are independent and the distribution is the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.extremes.distributions import MIN_FITTED, Distribution

MIN_YEARS = 10
"""As Bulletin 17C requires: fewer years show next to nothing about an event of decades."""
INTERVAL = 0.90
"""The share of the samples' levels within an interval, as in Bulletin 17C."""
SAMPLES = 2000
MAX_FITS = 8192
"""Number of fits that a process caches, some kB each: three per basin, with and without intervals, for 1300 basins."""
_SEED = 0  # the same record always has the same interval


@dataclass(frozen=True, slots=True)
class FloodQuantile:
    """A level of a stated probability, with its interval's ends, in the values' unit; None for the reason given."""

    value: float | None
    low: float | None
    high: float | None
    reason: Absent | None


def levels(
    values: Array, chances: Sequence[float], distribution: type[Distribution], *, intervals: bool = True
) -> list[FloodQuantile]:
    """Return the level for each non-exceedance probability (0.9: flood of 10 years, 0.1: low flow of 10 years).

    Fits are cached in the process, so that the bootstrap of an unchanged record is not repeated. Values are (years,),
    none below 0; intervals take nearly all of the time.
    """
    return list(_levels(np.asarray(values, np.float64).tobytes(), tuple(chances), distribution, intervals))


@lru_cache(maxsize=MAX_FITS)
def _levels(
    content: bytes, chances: tuple[float, ...], distribution: type[Distribution], intervals: bool
) -> Sequence[FloodQuantile]:
    values = np.frombuffer(content)
    unfitted = levels_without_fit(values, chances)
    if unfitted is not None:
        return unfitted
    years, positive = len(values), values[values > 0]
    dry, asked = (years - len(positive)) / years, np.array(chances)
    fitted = distribution.fit(positive)
    quantiles = _quantiles(fitted, asked, dry).tolist()
    if not intervals:
        return [FloodQuantile(value, None, None, absent(Reason.NO_INTERVAL_REQUESTED)) for value in quantiles]
    low, high = _interval(fitted, years, dry, asked)
    return [FloodQuantile(*ends, None) for ends in zip(quantiles, low.tolist(), high.tolist(), strict=True)]


def levels_without_fit(values: Array, chances: Sequence[float]) -> list[FloodQuantile] | None:
    """Return the levels of values to which nothing can be fitted; None where a distribution can be."""
    years, positive = len(values), values[values > 0]
    if years < MIN_YEARS:
        return [too_short(years)] * len(chances)
    if len(positive) >= MIN_YEARS and positive.min() < positive.max():
        return None
    return [_without_fit(chance, (years - len(positive)) / years, years, positive) for chance in chances]


def too_short(years: int) -> FloodQuantile:
    return _none(absent(Reason.TOO_FEW_YEARS_FOR_LEVEL, years=years, needed=MIN_YEARS))


def _quantiles(fitted: Distribution, chances: Array, dry: float) -> Array:
    """Return the levels of probabilities (chances,) where a share of the years is dry: shape (..., chances)."""
    wet = chances > dry
    among_wet = np.where(wet, (chances - dry) / (1 - dry), 0.5)
    return np.asarray(np.where(wet, np.maximum(fitted.quantile(among_wet), 0), 0))


def _interval(fitted: Distribution, years: int, dry: float, chances: Array) -> tuple[Array, Array]:
    generator = np.random.default_rng(_SEED)
    with_flow = np.maximum(generator.binomial(years, 1 - dry, SAMPLES), MIN_FITTED)
    drawn = []
    for count in np.unique(with_flow):
        samples = fitted.sample(generator, (int((with_flow == count).sum()), int(count)))
        drawn.append(_quantiles(fitted.fit(samples), chances, (years - count) / years))
    low, high = np.quantile(np.concatenate(drawn), [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0)
    return low, high


def _without_fit(chance: float, dry: float, years: int, positive: Array) -> FloodQuantile:
    if chance <= dry:
        return FloodQuantile(
            0.0, None, None, absent(Reason.NO_INTERVAL_OF_ZERO, wet=len(positive), years=years, needed=MIN_YEARS)
        )
    if len(positive) < MIN_YEARS:
        return _none(absent(Reason.TOO_FEW_YEARS_WITH_FLOW, wet=len(positive), years=years, needed=MIN_YEARS))
    return _none(absent(Reason.SAME_IN_EVERY_YEAR))


def _none(reason: Absent) -> FloodQuantile:
    return FloodQuantile(None, None, None, reason)
