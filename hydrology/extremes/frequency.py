"""Frequency analysis of annual extreme flows, with two distributions and confidence intervals.

Each distribution has one method of fitting. scipy is imported where needed, because the API starts without it, and
`scipy.stats`, which takes longest to load, only by those whose intervals are asked.

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
from typing import Protocol, Self

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason

MIN_FITTED = 3
"""Minimum number of values for a fit: the distributions have three parameters."""
_NEARLY_ZERO = 1e-4  # so small a shape changes no level by a thousandth, and needs no formula of its own

_NEARLY_NORMAL = 1.6e-5  # so small a skew is none to scipy


class Distribution(Protocol):
    """Parameters of shape (...,), each fitted to values of shape (..., n)."""

    @classmethod
    def fit(cls, values: Array) -> Self:
        """Fit to n values above 0, not all the same."""

    def quantile(self, chance: Array) -> Array:
        """Return the values with the given non-exceedance probabilities: shape (..., chances)."""

    def chance(self, value: float) -> float:
        """Return the non-exceedance probability of a value, where the parameters are scalars."""

    def sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw random values, where the parameters are scalars."""


@dataclass(frozen=True, slots=True)
class Gev:
    """The generalized extreme value distribution by L-moments.

    Source: Hosking and Wallis 1997, "Regional Frequency Analysis", appendix A.6, whose shape this is (that of
    `scipy.stats.genextreme`; above 0 there is an upper bound); sample L-moments by their equations 2.31 and 2.40. The
    shape solves τ3 = 2 (1 - 3^-k) / (1 - 2^-k) - 3, by bisection where they give an approximation.
    """

    location: Array
    scale: Array
    shape: Array

    @classmethod
    def fit(cls, values: Array) -> Self:
        from scipy.special import gamma

        mean, l_scale, l_skewness = l_moments(values)
        k = _away_from_zero(_gev_shape(l_skewness))
        factor = gamma(1 + k)
        scale = l_scale * k / (-np.expm1(-k * np.log(2)) * factor)
        return cls(mean - scale * (1 - factor) / k, scale, k)

    def quantile(self, chance: Array) -> Array:
        """Return the values with the given non-exceedance probabilities, (..., chances). ξ + α (1 - (-ln F)^k) / k."""
        location, scale, k = (np.expand_dims(part, -1) for part in (self.location, self.scale, self.shape))
        return np.asarray(location - scale * np.expm1(k * np.log(-np.log(chance))) / k)

    def chance(self, value: float) -> float:
        from scipy.special import log1p

        height, k = (value - self.location) / self.scale, float(self.shape)
        is_within = height < 1 / k if k > 0 else height > 1 / k
        return float(np.exp(-np.exp(log1p(-k * height) / k))) if is_within else float(k > 0)

    def sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return self.quantile(generator.random(shape))


@dataclass(frozen=True, slots=True)
class LogPearson3:
    """The log-Pearson type III distribution by the moments of the common logarithms.

    Source: Bulletin 17C (England et al. 2019, doi:10.3133/tm4B5), equations 5 to 8: mean, standard deviation with n-1,
    and the station's skew with its factor n / ((n-1) (n-2)) against bias. Floods use more of the bulletin
    (`hydrology.extremes.bulletin_17c`). Quantiles and samples are those of `scipy.stats.pearson3`.
    """

    mean: Array
    sd: Array
    skew: Array

    @classmethod
    def fit(cls, values: Array) -> Self:
        logs = np.log10(values)
        n = logs.shape[-1]
        mean, sd = logs.mean(axis=-1, keepdims=True), logs.std(axis=-1, ddof=1, keepdims=True)
        skew = n / ((n - 1) * (n - 2)) * (((logs - mean) / sd) ** 3).sum(axis=-1)
        return cls(mean[..., 0], sd[..., 0], skew)

    def quantile(self, chance: Array) -> Array:
        """Return the values of non-exceedance probabilities, (..., chances). 10^(mean + sd K), K of Pearson III."""
        from scipy.special import gammaincinv, ndtri

        mean, sd, skew = (np.expand_dims(part, -1) for part in (self.mean, self.sd, self.skew))
        with np.errstate(divide="ignore", invalid="ignore"):  # without a skew it is the normal distribution
            alpha, beta = (2 / skew) ** 2, 2 / skew
            gamma = gammaincinv(alpha, np.where(beta < 0, 1 - chance, chance)) / beta - alpha / beta
        standard = np.where(np.abs(skew) < _NEARLY_NORMAL, ndtri(chance), gamma)
        return np.asarray(10 ** (standard * sd + mean))

    def chance(self, value: float) -> float:
        from scipy.stats import pearson3

        return float(pearson3.cdf(np.log10(value), self.skew, self.mean, self.sd)) if value > 0 else 0.0

    def sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        from scipy.stats import pearson3

        return 10 ** np.asarray(pearson3.rvs(self.skew, self.mean, self.sd, size=shape, random_state=generator))


@dataclass(frozen=True, slots=True)
class Gpd:
    """The generalized Pareto distribution of heights above a threshold, by L-moments.

    Source: Hosking and Wallis 1987, doi:10.1080/00401706.1987.10488243, whose shape this is (that of
    `scipy.stats.genpareto` with the other sign; above 0 there is an upper bound).
    """

    scale: Array
    shape: Array

    @classmethod
    def fit(cls, values: Array) -> Self:
        mean, l_scale, _ = l_moments(values)
        k = _away_from_zero(mean / l_scale - 2)
        return cls((1 + k) * mean, k)

    def quantile(self, chance: Array) -> Array:
        """Return the heights with the given non-exceedance probabilities, (..., chances). α (1 - (1 - F)^k) / k."""
        scale, k = (np.expand_dims(part, -1) for part in (self.scale, self.shape))
        return np.asarray(-scale * np.expm1(k * np.log1p(-chance)) / k)

    def chance(self, value: float) -> float:
        from scipy.special import inv_boxcox1p

        height, k = value / self.scale, float(self.shape)
        if height <= 0:
            return 0.0
        return 1.0 if k > 0 and height >= 1 / k else float(-inv_boxcox1p(-height, k))

    def sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return self.quantile(generator.random(shape))


@dataclass(frozen=True, slots=True)
class FittedExtremes:
    """A distribution fitted to the heights of extremes above a threshold, `per_year` of them.

    `dry` is the share of them without a height, which the distribution leaves out.
    """

    distribution: Distribution
    dry: float = 0.0
    threshold: float = 0.0
    per_year: float = 1.0

    def years_between(self, flow: float) -> float:
        """Return the mean number of years between extremes above a flow; infinity where none is possible."""
        beyond = (1 - self.dry) * (1 - self.distribution.chance(flow - self.threshold))
        return round(1 / (self.per_year * beyond), 6) if beyond > 0 else np.inf


def l_moments(values: Array) -> tuple[Array, Array, Array]:
    """Return mean, L-scale and L-skewness of samples of shape (..., n), each of shape (...,)."""
    ordered, n = np.sort(values, axis=-1), values.shape[-1]
    rank = np.arange(n)
    b0 = ordered.mean(axis=-1)
    b1 = (ordered * rank / (n - 1)).mean(axis=-1)
    b2 = (ordered * rank * (rank - 1) / ((n - 1) * (n - 2))).mean(axis=-1)
    l_scale = 2 * b1 - b0
    return b0, l_scale, (6 * b2 - 6 * b1 + b0) / l_scale


def _gev_shape(l_skewness: Array) -> Array:
    """Return the shape for each L-skewness, which decreases with it, within (-1, 20), where all but ±1 lie."""
    low, high = np.full(l_skewness.shape, -1 + 1e-3), np.full(l_skewness.shape, 20.0)
    for _ in range(50):
        middle = (low + high) / 2
        k = _away_from_zero(middle)
        above = 2 * np.expm1(-k * np.log(3)) / np.expm1(-k * np.log(2)) - 3 > l_skewness
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def _away_from_zero(values: Array) -> Array:
    return np.asarray(np.where(np.abs(values) < _NEARLY_ZERO, _NEARLY_ZERO, values))


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

    def above(self, threshold: float) -> "FloodQuantile":
        """Return the level of a height above a threshold."""
        value, low, high = (None if one is None else threshold + one for one in (self.value, self.low, self.high))
        return FloodQuantile(value, low, high, self.reason)


def levels(
    values: Array, chances: Sequence[float], distribution: type[Distribution], *, intervals: bool = True
) -> list[FloodQuantile]:
    """Return the level for each non-exceedance probability (0.9: flood of 10 years, 0.1: low flow of 10 years).

    Fits are cached in the process, so that the bootstrap of an unchanged record is not repeated. Values are (years,),
    none below 0; intervals take nearly all of the time.
    """
    return list(_levels(np.asarray(values, np.float64).tobytes(), tuple(chances), distribution, intervals))


def fit(values: Array, distribution: type[Distribution]) -> FittedExtremes:
    """Fit a distribution to values (n,), none below 0, as `levels` does: to those above 0. Fits are cached."""
    return _fit(np.asarray(values, np.float64).tobytes(), distribution)


@lru_cache(maxsize=MAX_FITS)
def _fit(content: bytes, distribution: type[Distribution]) -> FittedExtremes:
    values = np.frombuffer(content)
    positive = values[values > 0]
    return FittedExtremes(distribution.fit(positive), (len(values) - len(positive)) / len(values))


@lru_cache(maxsize=MAX_FITS)
def _levels(
    content: bytes, chances: tuple[float, ...], distribution: type[Distribution], intervals: bool
) -> Sequence[FloodQuantile]:
    values = np.frombuffer(content)
    unfitted = levels_without_fit(values, chances)
    if unfitted is not None:
        return unfitted
    fitted, asked = _fit(content, distribution), np.array(chances)
    quantiles = _quantiles(fitted.distribution, asked, fitted.dry).tolist()
    if not intervals:
        return [FloodQuantile(value, None, None, absent(Reason.NO_INTERVAL_REQUESTED)) for value in quantiles]
    low, high = _interval(fitted.distribution, len(values), fitted.dry, asked)
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
