"""Two distributions of annual extreme flows, each with one method of fitting.

scipy is imported where needed, because the API starts without it.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from hydrology.base.arrays import Array

MIN_FITTED = 3
"""Minimum number of values for a fit: the distributions have three parameters."""
_NEARLY_ZERO = 1e-4  # so small a shape changes no level by a thousandth, and needs no formula of its own


class Distribution(Protocol):
    """Parameters of shape (...,), each fitted to values of shape (..., n)."""

    @classmethod
    def fit(cls, values: Array) -> Self:
        """Fit to n values above 0, not all the same."""

    def quantile(self, chance: Array) -> Array:
        """Return the values with the given non-exceedance probabilities: shape (..., chances)."""

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
        from scipy.stats import pearson3

        mean, sd, skew = (np.expand_dims(part, -1) for part in (self.mean, self.sd, self.skew))
        return 10 ** np.asarray(pearson3.ppf(chance, skew, mean, sd))

    def sample(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        from scipy.stats import pearson3

        return 10 ** np.asarray(pearson3.rvs(self.skew, self.mean, self.sd, size=shape, random_state=generator))


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
