"""Fits log-Pearson type III to floods of which some are known only within bounds: the expected moments algorithm.

Sources: Cohn, Lane and Baier 1997, doi:10.1029/97WR01640 (the algorithm); Cohn, Lane and Stedinger 2001,
doi:10.1029/2001WR900016 (its variance and confidence limits); Bulletin 17C, England et al. 2019, doi:10.3133/tm4B5,
appendixes 6 and 7; Griffis and Stedinger 2009, doi:10.1061/(ASCE)HE.1943-5584.0000045 (error of a skew).

Logarithms are to base 10. Moments of Pearson III within bounds come from a recursion: with z standardized and skew g,
d/dz [(1 + g z/2) z^k f] = k z^(k-1) f + (k g/2) z^k f - z^(k+1) f, which holds for every skew, 0 included.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Mask

MAX_ROUNDS = 2000
_STEP = 1e-4  # of numerical derivatives
_MIN_SKEW = 1e-4  # below it the gamma function loses digits, and no level changes
_MIN_FREEDOM = 5.0
"""Smallest number of degrees of freedom of a confidence limit, as in the program PeakFQ."""
_MIN_SHRINK = 0.5
"""Bound of the divisor of a confidence limit, below which its expansion fails."""


@dataclass(frozen=True, slots=True)
class FloodRecord:
    """Annual floods within bounds, equal where known, and what could have been seen each year; all (years,).

    Attributes:
        seen_above: the flow above which a flood of that year would have been recorded (perception threshold): 0 at a
            gauge; of a year without observation, the flow of which people would have left a mark.
    """

    low: Array
    high: Array
    seen_above: Array

    @classmethod
    def complete(cls, floods: npt.ArrayLike) -> Self:
        """Return the record of a gauge without gaps."""
        known = np.asarray(floods, np.float64)
        return cls(known, known, np.zeros(len(known)))

    def censored_below(self, flow: float) -> Self:
        """Return the record in which floods below a flow are known to be below it, and no more."""
        small = self.high < flow
        return type(self)(
            np.where(small, 0, self.low), np.where(small, flow, self.high), np.maximum(self.seen_above, flow)
        )


@dataclass(frozen=True, slots=True)
class RegionalSkew:
    """A skew of the logarithms from the floods of a region, with its mean square error."""

    skew: float
    error: float


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation and skew of the logarithms of annual floods."""

    mean: float
    sd: float
    skew: float

    def quantile(self, chances: Array) -> Array:
        """Return the logarithms of floods with the given non-exceedance probabilities."""
        return self.mean + self.sd * factor(chances, self.skew)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fit: `station` has the record's moments, `moments` their skew weighted (by `weight`) with the region's."""

    record: FloodRecord
    station: Moments
    moments: Moments
    weight: float
    regional: RegionalSkew | None


def factor(chances: Array, skew: float) -> Array:
    """Return the frequency factors of Pearson III: quantiles for mean 0 and standard deviation 1."""
    from scipy.stats import pearson3

    return np.asarray(pearson3.ppf(chances, skew))


def fit(record: FloodRecord, regional: RegionalSkew | None = None) -> Fit:
    """Fit log-Pearson III to a record with at least three different floods that are known, above 0.

    The skew's weight is the inverse of its mean square error, as in Bulletin 17C, equation 7-10.
    """
    station = _iterate(record, 1.0, 0.0)
    if regional is None:
        return Fit(record, station, station, 1.0, None)
    weight = regional.error / (regional.error + skew_error(record, station))
    return Fit(record, station, _iterate(record, weight, regional.skew), weight, regional)


def skew_error(record: FloodRecord, moments: Moments) -> float:
    """Return the mean square error of a station's skew.

    That of a complete record of the known floods (Griffis and Stedinger 2009), times the part by which censored years
    lessen it to first order.
    """
    known = FloodRecord.complete(record.low[_known(record)])
    center = np.array([0.0, 1.0, moments.skew])
    of_record, of_known = (_covariance_of(_seen(one, moments), center)[2, 2] for one in (record, known))
    return complete_skew_error(len(known.low), moments.skew) * float(of_record / of_known)


def complete_skew_error(n: int, skew: float) -> float:
    """Return the mean square error of the skew of n floods: Griffis and Stedinger 2009, equation 3."""
    a = -17.75 / n**2 + 50.06 / n**3
    b = 3.92 / n**0.3 - 31.10 / n**0.6 + 34.86 / n**0.9
    c = -7.31 / n**0.59 + 45.90 / n**1.18 - 86.50 / n**1.77
    return float((6 / n + a) * (1 + (9 / 6 + b) * skew**2 + (15 / 48 + c) * skew**4))


def limits(fitted: Fit, chances: Array, share: float) -> tuple[Array, Array]:
    """Return the confidence limits of logarithms of floods at non-exceedance probabilities, each (chances,).

    A flood's estimate and its estimated standard deviation vary together, which Student's t is corrected for: Cohn,
    Lane and Stedinger 2001, equations 19 to 24. Not covered: which small floods a test has left out. A `share` of such
    limits (as 0.90) encloses the true flood.
    """
    from scipy.stats import t as student

    center = np.array([0.0, 1.0, fitted.moments.skew])
    spread = _spread(fitted, center)
    by_flood = _flood_slopes(chances, fitted.moments.skew)
    deviation = np.sqrt(_within(by_flood, spread, by_flood))
    by_deviation = np.stack(
        [
            (_deviation(fitted, chances, center + step) - _deviation(fitted, chances, center - step)) / (2 * _STEP)
            for step in _STEP * np.eye(3)
        ],
        axis=-1,
    )
    together = _within(by_flood, spread, by_deviation)
    slope = together / deviation**2
    left = np.maximum(_within(by_deviation, spread, by_deviation) - slope * together, 1e-12)
    freedom = np.maximum(deviation**2 / (2 * left), _MIN_FREEDOM)
    middle, sd = fitted.moments.quantile(chances), fitted.moments.sd
    ends = []
    for chance in ((1 - share) / 2, (1 + share) / 2):
        t = student.ppf(chance, freedom)
        ends.append(middle + sd * deviation * t / np.maximum(_MIN_SHRINK, 1 - slope * t))
    return ends[0], ends[1]


def _seen(record: FloodRecord, moments: Moments) -> Array:
    """Return the perception thresholds, (years,), in standard deviations of the logarithms from their mean."""
    with np.errstate(divide="ignore"):
        return np.asarray((np.log10(record.seen_above) - moments.mean) / moments.sd)


def _known(record: FloodRecord) -> Mask:
    return np.asarray(record.low == record.high)


def _iterate(record: FloodRecord, weight: float, regional: float) -> Moments:
    """Solve for the moments that equal their expectation given the record."""
    known = _known(record)
    values, n = np.log10(record.low[known]), len(record.low)
    count = len(values)
    by_two, by_three = count / (count - 1), count**2 / ((count - 1) * (count - 2))
    bounds, times = np.unique(np.stack([record.low, record.high], axis=-1)[~known], axis=0, return_counts=True)
    with np.errstate(divide="ignore"):
        low, high = np.log10(bounds[:, 0]), np.log10(bounds[:, 1])
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    skew = float(by_three * np.mean(((values - mean) / sd) ** 3))
    for _ in range(MAX_ROUNDS):
        first, second, third = sd ** np.arange(1, 4)[:, None] * _expected((low - mean) / sd, (high - mean) / sd, skew)
        new = (values.sum() + times @ (first + mean)) / n
        d = mean - new
        square = (by_two * ((values - new) ** 2).sum() + times @ (second + 2 * d * first + d**2)) / n
        cube = by_three * ((values - new) ** 3).sum()
        cube += times @ (third + 3 * d * second + 3 * d**2 * first + d**3)
        before = np.array([mean, sd, skew])
        mean, sd = float(new), float(np.sqrt(square))
        skew = float(weight * cube / (n * sd**3) + (1 - weight) * regional)
        if np.abs(np.array([mean, sd, skew]) - before).max() < 1e-11 * sd:
            break
    return Moments(mean, sd, skew)


def _expected(low: Array, high: Array, skew: float) -> Array:
    """Return the means of z, z² and z³ within bounds, shape (3, bounds)."""
    moments = _partial_moments(low, high, skew, 3)
    inside = moments[0] > 1e-12
    # Where the distribution has nothing within the bounds, the nearest bound stands for all of it.
    nearest = np.where(np.isfinite(high), high, low)
    powers = nearest ** np.arange(1, 4)[:, None]
    return np.where(inside, moments[1:] / np.where(inside, moments[0], 1), powers)


def _partial_moments(low: Array, high: Array, skew: float, highest: int) -> Array:
    """Return the integrals of z^k over bounds, k from 0, for mean 0 and standard deviation 1: (highest + 1, bounds)."""
    (low_chance, low_density), (high_chance, high_density) = _pearson3(low, skew), _pearson3(high, skew)
    ends = [(np.where(np.isfinite(z), z, 0.0), f) for z, f in ((low, low_density), (high, high_density))]
    found = [high_chance - low_chance]
    for k in range(highest):
        edges = [(1 + skew * z / 2) * z**k * f for z, f in ends]
        before = k * found[k - 1] if k else 0.0
        found.append(before + k * skew / 2 * found[k] - (edges[1] - edges[0]))
    return np.stack(found)


def _pearson3(z: Array, skew: float) -> tuple[Array, Array]:
    """Return the non-exceedance probability and the density, for mean 0 and standard deviation 1."""
    from scipy.special import gammainc, gammaincc, gammaln, ndtr, xlogy

    if abs(skew) < _MIN_SKEW:
        return np.asarray(ndtr(z)), np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))
    shape = 4 / skew**2
    gamma = np.maximum(shape + z * 2 / skew, 0)
    finite = np.where(np.isfinite(gamma), gamma, 0.0)
    with np.errstate(divide="ignore"):
        density = np.exp(xlogy(shape - 1, finite) - finite - gammaln(shape)) * 2 / abs(skew)
    density = np.where(np.isfinite(gamma) & (gamma > 0), density, 0.0)
    return np.asarray(gammainc(shape, gamma) if skew > 0 else gammaincc(shape, gamma)), density


def _covariance_of(seen: Array, parameters: Array) -> Array:
    """Return the covariance of (mean, variance, skew) to first order about parameters, for thresholds (years,).

    The estimate solves: sum over the years of the expected (z, z², z³) given the observation = years x their means.
    """
    below, years = np.unique(seen, return_counts=True)
    chance, expected = _below(below, parameters)
    raw = _moved(_all_moments(parameters[2], 6), parameters[0], np.sqrt(parameters[1]))
    part = _raw_below(below, parameters, 6)
    order = np.arange(1, 4)
    products = np.add.outer(order, order)
    seen_products = raw[products][..., None] - part[products]
    expected_products = expected[:, None] * expected[None, :] * chance
    spread = np.einsum("ijk,k->ij", seen_products + expected_products, years) - years.sum() * np.outer(
        raw[1:4], raw[1:4]
    )
    slopes = np.empty((3, 3))
    for at, step in enumerate(_STEP * np.eye(3)):
        given = (_below(below, parameters + step)[1] - _below(below, parameters - step)[1]) / (2 * _STEP)
        up, down = (
            _moved(_all_moments(p[2], 3), p[0], np.sqrt(p[1]))[1:] for p in (parameters + step, parameters - step)
        )
        slopes[:, at] = given @ (years * chance) - years.sum() * (up - down) / (2 * _STEP)
    inverse = np.linalg.inv(slopes)
    return np.asarray(inverse @ spread @ inverse.T)


def _below(bounds: Array, parameters: Array) -> tuple[Array, Array]:
    """Return the probability of being below bounds, and the means of z, z², z³ there: (bounds,), (3, bounds)."""
    part = _raw_below(bounds, parameters, 3)
    inside = part[0] > 1e-12
    return part[0], np.where(inside, part[1:] / np.where(inside, part[0], 1), 0.0)


def _raw_below(bounds: Array, parameters: Array, highest: int) -> Array:
    """Return the integrals of z^k below bounds for (mean, variance, skew): (highest + 1, bounds)."""
    mean, sd = parameters[0], np.sqrt(parameters[1])
    nothing = np.full(len(bounds), -np.inf)
    return _moved(_partial_moments(nothing, (bounds - mean) / sd, parameters[2], highest), mean, sd)


def _all_moments(skew: float, highest: int) -> Array:
    return _partial_moments(np.array([-np.inf]), np.array([np.inf]), skew, highest)[:, 0]


def _moved(moments: Array, mean: float, sd: float) -> Array:
    """Return the moments of mean + sd z, from those of z; along the first axis."""
    from scipy.special import comb

    orders = range(len(moments))
    return np.stack([sum(comb(k, j) * mean ** (k - j) * sd**j * moments[j] for j in range(k + 1)) for k in orders])


def _spread(fitted: Fit, parameters: Array) -> Array:
    """Return the covariance of the moments that quantiles are of, with the region's skew."""
    station = _covariance_of(_seen(fitted.record, fitted.moments), parameters)
    if fitted.regional is None:
        return station
    weights = np.diag([1.0, 1.0, fitted.weight])
    return weights @ station @ weights + np.diag([0, 0, (1 - fitted.weight) ** 2 * fitted.regional.error])


def _deviation(fitted: Fit, chances: Array, parameters: Array) -> Array:
    """Return the standard deviations of quantiles for other parameters (mean, variance, skew), in units of the sd."""
    slopes = _flood_slopes(chances, parameters[2], parameters[1])
    return np.sqrt(_within(slopes, _spread(fitted, parameters), slopes))


def _flood_slopes(chances: Array, skew: float, square: float = 1.0) -> Array:
    """Return the derivatives of quantiles by mean, variance and skew: (chances, 3)."""
    by_skew = (factor(chances, skew + _STEP) - factor(chances, skew - _STEP)) / (2 * _STEP)
    sd = np.sqrt(square)
    return np.stack([np.ones(len(chances)), factor(chances, skew) / (2 * sd), sd * by_skew], axis=-1)


def _within(left: Array, spread: Array, right: Array) -> Array:
    return np.asarray(np.einsum("ci,ij,cj->c", left, spread, right))
