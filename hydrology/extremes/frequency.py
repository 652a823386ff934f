"""What an annual extreme flow reaches with a stated chance: two distributions, and how far a level could be off.

Years without flow are no part of a distribution. With the share p0 of them, a level of the non-exceedance chance F is
that of (F - p0) / (1 - p0) in the distribution of the others, and 0 where F is at most p0: the conditional probability
adjustment of Jennings and Benson 1969, doi:10.1029/WR005i001p00276, as in Bulletin 17B, appendix 5.

Intervals are of a parametric bootstrap: samples as long as the record are drawn from the fit and fitted anew, and the
interval leaves 5 % of their levels out at either end (Efron 1979, doi:10.1214/aos/1176344552). They say how far the
choice of years could have moved the level if the years are independent and the distribution is the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hydrology.extremes.distributions import MIN_FITTED, Array, Distribution

MIN_YEARS = 10
"""As Bulletin 17C asks for: fewer say next to nothing of what happens once in decades."""
INTERVAL = 0.90
"""Of the levels of the samples, the share that an interval holds: what Bulletin 17C shows."""
SAMPLES = 2000
MAX_FITS = 8192
"""Fits that a process holds, some kB each: three of every basin, with and without intervals, for 1 300 basins."""
_SEED = 0  # the same record always has the same interval


@dataclass(frozen=True, slots=True)
class Level:
    """A level with a stated chance.

    Attributes:
        value: in the unit of what it was fitted to; None for the reason given.
        low, high: the ends of its interval; None for the reason given.
        reason: None where all three are there.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: str | None


def levels(
    values: Array, chances: Sequence[float], distribution: type[Distribution], *, intervals: bool = True
) -> list[Level]:
    """Return what annual values stay below, or at, with each chance in a year.

    The same values are fitted once in a process: the bootstrap of an unchanged record is not repeated.

    Args:
        values: shape (years,), none below 0.
        chances: of not being exceeded: 0.9 for the flood of 10 years, 0.1 for the low flow of 10 years.
        distribution: of the years with flow.
        intervals: whether the levels are to have them: they take nearly all of the time.
    """
    return list(_levels(np.asarray(values, np.float64).tobytes(), tuple(chances), distribution, intervals))


@lru_cache(maxsize=MAX_FITS)
def _levels(
    content: bytes, chances: tuple[float, ...], distribution: type[Distribution], intervals: bool
) -> Sequence[Level]:
    """Compute `levels` of float64 values by their bytes."""
    values = np.frombuffer(content)
    years, positive = len(values), values[values > 0]
    if years < MIN_YEARS:
        return [too_short(years)] * len(chances)
    dry = (years - len(positive)) / years
    if len(positive) < MIN_YEARS or positive.min() == positive.max():
        return [_without_fit(chance, dry, years, positive) for chance in chances]
    asked = np.array(chances)
    fitted = distribution.fit(positive)
    quantiles = _quantiles(fitted, asked, dry).tolist()
    if not intervals:
        return [Level(value, None, None, "No interval was asked for.") for value in quantiles]
    low, high = _interval(fitted, years, dry, asked)
    return [Level(*ends, None) for ends in zip(quantiles, low.tolist(), high.tolist(), strict=True)]


def too_short(years: int) -> Level:
    """Return the level of a record of too few years."""
    return _none(f"Years with enough days: {years}. A level needs {MIN_YEARS}.")


def _quantiles(fitted: Distribution, chances: Array, dry: float) -> Array:
    """Return the levels of chances (chances,) where a share of the years is without flow: shape (..., chances)."""
    wet = chances > dry
    among_wet = np.where(wet, (chances - dry) / (1 - dry), 0.5)
    quantiles: Array = np.where(wet, np.maximum(fitted.quantile(among_wet), 0), 0)
    return quantiles


def _interval(fitted: Distribution, years: int, dry: float, chances: Array) -> tuple[Array, Array]:
    """Return the ends of the interval of each chance."""
    generator = np.random.default_rng(_SEED)
    with_flow = np.maximum(generator.binomial(years, 1 - dry, SAMPLES), MIN_FITTED)
    drawn = []
    for count in np.unique(with_flow):
        samples = fitted.sample(generator, (int((with_flow == count).sum()), int(count)))
        drawn.append(_quantiles(fitted.fit(samples), chances, (years - count) / years))
    low, high = np.quantile(np.concatenate(drawn), [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2], axis=0)
    return low, high


def _without_fit(chance: float, dry: float, years: int, positive: Array) -> Level:
    if chance <= dry:
        wet = f"{len(positive)} of {years} years have any flow"
        return Level(0.0, None, None, f"{wet}: the level is 0, and an interval would need {MIN_YEARS} with flow.")
    if len(positive) < MIN_YEARS:
        return _none(f"{len(positive)} of {years} years have any flow, and a level needs {MIN_YEARS} that have.")
    return _none("It is the same in every year with flow: there is nothing to fit.")


def _none(reason: str) -> Level:
    return Level(None, None, None, reason)
