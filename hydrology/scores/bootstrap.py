"""Bootstrap intervals of scores, over water years and basins.

The days of a water year share their weather, with each other and with the basins nearby, so they are not independent
draws. Whole water years are drawn with replacement, the same ones for every basin: the block bootstrap of Künsch 1989,
doi:10.1214/aos/1176347265. Drawing basins instead shows the effect of another choice of basins (Efron 1979,
doi:10.1214/aos/1176344552).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Days, water_year
from hydrology.base.errors import InvalidInput
from hydrology.scores.score_types import pair

LEVEL = 0.95
"""The share of the samples within an interval."""
SAMPLES = 2000
MIN_YEARS = 3
"""With three years the interval extends from the worst to the best; fewer show nothing of their spread."""
_SEED = 0  # the same scores always give the same interval
_SUMS = ("days", "squared_error", "observed", "observed_squared")


@dataclass(frozen=True, slots=True)
class Interval:
    """The median over the actual basins and years, with the ends of an interval of 95 % of the samples' medians.

    Interval and `sd` of the samples' medians are None where too few years are observed to draw from.
    """

    median: float
    low: float | None
    high: float | None
    sd: float | None
    basins: int
    years: int


@dataclass(frozen=True, slots=True)
class YearlyErrors:
    """Sums over each water year, (basins, years), from which the NSE of any choice of years follows.

    `squared_error` is Σ(s-o)², the others Σo and Σo², o less the basin's mean (against cancellation).
    """

    years: Integers
    days: Array
    squared_error: Array
    observed: Array
    observed_squared: Array

    @classmethod
    def of_basin(cls, simulated: npt.ArrayLike, observed: npt.ArrayLike, days: Days) -> Self:
        """Compute the sums of one basin, from values (days,) in mm/day, NaN where missing."""
        pairs = pair(simulated, observed, days=days)
        years = np.unique(water_year(days))
        row = np.searchsorted(years, water_year(pairs.days))
        centred = pairs.observed - (pairs.observed.mean() if len(pairs) else 0.0)
        terms = (np.ones(len(pairs)), (pairs.simulated - pairs.observed) ** 2, centred, centred**2)
        sums: list[Array] = [np.bincount(row, term, len(years)).astype(np.float64)[np.newaxis] for term in terms]
        return cls(years, *sums)

    @classmethod
    def joined(cls, basins: Sequence["YearlyErrors"]) -> Self:
        """Return the sums of several basins over the same water years."""
        if not basins or any(not np.array_equal(basin.years, basins[0].years) for basin in basins):
            raise InvalidInput("Yearly errors are joined over the same water years: give some of equal periods.")
        return cls(basins[0].years, *(np.concatenate([getattr(basin, name) for basin in basins]) for name in _SUMS))

    def over(self, years: Sequence[int]) -> "YearlyErrors":
        """Return the sums of the given water years."""
        chosen = np.isin(self.years, years)
        return YearlyErrors(self.years[chosen], *(getattr(self, name)[:, chosen] for name in _SUMS))

    @property
    def observed_years(self) -> Mask:
        """The years with an observation in any basin, shape (years,)."""
        return np.asarray(self.days.sum(axis=0) > 0)

    def nse(self, counts: Integers | None = None) -> Array:
        """Return the NSE of each basin over each sample of years, (basins, samples); NaN where undefined.

        `counts`, (samples, years), are how often each year is drawn; by default every year once.
        """
        weights = (np.ones((1, len(self.years))) if counts is None else counts.astype(np.float64)).T
        days, error = self.days @ weights, self.squared_error @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = self.observed_squared @ weights - (self.observed @ weights) ** 2 / days
            return np.asarray(np.where((days > 1) & (variance > 1e-12 * days), 1 - error / variance, np.nan))


def median_nse_interval(errors: YearlyErrors, *, draw_years: bool = True, draw_basins: bool = False) -> Interval | None:
    """Return the median NSE over the basins that have one, with its interval; None where none has."""
    return _interval(errors.nse, errors.observed_years, draw_years=draw_years, draw_basins=draw_basins)


def median_difference_interval(ours: YearlyErrors, theirs: YearlyErrors) -> Interval | None:
    """Return the median over basins of the difference in NSE, ours - theirs, with its interval; None without any.

    The differences are paired: both models are compared on the same basin in the same years of each sample.
    """
    if ours.days.shape != theirs.days.shape or not np.array_equal(ours.years, theirs.years):
        raise InvalidInput("Paired differences need the same basins and water years of both models.")

    def difference(counts: Integers | None) -> Array:
        return ours.nse(counts) - theirs.nse(counts)

    return _interval(difference, ours.observed_years, draw_years=True, draw_basins=False)


def _interval(
    score: Callable[[Integers | None], Array], observed: Mask, *, draw_years: bool, draw_basins: bool
) -> Interval | None:
    scores = score(None)[:, 0]
    known = np.isfinite(scores)
    if not known.any():
        return None
    middle, basins, years = float(np.median(scores[known])), int(known.sum()), int(observed.sum())
    if draw_years and years < MIN_YEARS:
        return Interval(middle, None, None, None, basins, years)
    generator = np.random.default_rng(_SEED)
    counts = _drawn(generator, observed)
    samples = (score(counts) if draw_years else np.repeat(scores[:, np.newaxis], SAMPLES, axis=1))[known].T
    if draw_basins:
        samples = np.take_along_axis(samples, generator.integers(samples.shape[1], size=samples.shape), axis=1)
    medians = np.nanmedian(samples[np.isfinite(samples).any(axis=1)], axis=1)
    low, high = _bounds(medians)
    return Interval(middle, low, high, float(medians.std()), basins, years)


def ratio_interval(numerator: Array, denominator: Array) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of Σ numerator / Σ denominator (not 0), (years,); None for too few years."""
    if len(numerator) < MIN_YEARS:
        return None
    counts = _drawn_of(len(numerator))
    above, below = counts @ numerator, counts @ denominator
    defined = below > 0
    return _bounds(above[defined] / below[defined])


def _drawn(generator: np.random.Generator, observed: Mask) -> Integers:
    """Draw observed years with replacement, as many as there are: the count of each, (samples, years)."""
    years = observed.sum()
    return np.asarray(generator.multinomial(years, observed / years, size=SAMPLES))


@cache
def _drawn_of(years: int) -> Integers:
    return _drawn(np.random.default_rng(_SEED), np.ones(years, dtype=bool))


def _bounds(samples: Array) -> tuple[float, float]:
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high
