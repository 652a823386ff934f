"""Flood levels by Bulletin 17C: log-Pearson III, low outliers left out, with confidence limits.

Source: England et al. 2019, "Guidelines for Determining Flood Flow Frequency, Bulletin 17C", doi:10.3133/tm4B5. Dry
years and small floods that the test finds count as years with a flood below the smallest other one. The test, multiple
Grubbs-Beck, finds small floods that would distort the frequency of large ones: Cohn et al. 2013,
doi:10.1002/wrcr.20392, and appendix 5 of the bulletin.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import absent
from hydrology.base.arrays import Array, Integers
from hydrology.base.reasons import Reason
from hydrology.extremes.expected_moments import Fit, FloodRecord, RegionalSkew, fit, limits
from hydrology.extremes.frequency import (
    INTERVAL,
    MAX_FITS,
    FittedExtremes,
    FloodQuantile,
    LogPearson3,
    levels_without_fit,
)

OUTWARD, INWARD = 0.005, 0.10
"""Significance of the sweep from the median outwards, and of that from the smallest flood inwards."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_SMALLEST = 1e-8  # stands for 0, which has no logarithm


def count_low_outliers(floods: npt.ArrayLike) -> int:
    """Return how many smallest annual floods (years,) are outliers among normal logarithms, at most half."""
    logs = np.sort(np.log10(np.maximum(np.asarray(floods, np.float64), _SMALLEST)))
    ranks = np.arange(1, len(logs) // 2 + 1)
    rare = chance_of_as_low(len(logs), ranks, _distances(logs, ranks))
    outward = np.flatnonzero(rare < OUTWARD)
    inward = np.flatnonzero(rare >= INWARD)
    return max(int(outward[-1]) + 1 if len(outward) else 0, int(inward[0]) if len(inward) else len(ranks))


def _distances(logs: Array, ranks: Integers) -> Array:
    """Return how far each value is from the mean of the higher ones, in their standard deviation; 0 without one."""
    distances = np.zeros(len(ranks))
    for at, rank in enumerate(ranks):
        higher = logs[rank:]
        sd = higher.std(ddof=1)
        distances[at] = (logs[rank - 1] - higher.mean()) / sd if sd > 0 else 0.0
    return distances


def chance_of_as_low(n: int, ranks: Integers, distances: Array) -> Array:
    """Return the probability of values of those ranks at least as far below the higher ones, among n normal values.

    Cohn et al. 2013, equations 8 to 13: integrated over where the value of that rank (1 for the smallest) lies. Given
    its place, mean and variance of the higher values are taken as normal and as gamma distributed. Distances are from
    that mean, in their standard deviation.
    """
    from scipy.special import betaincinv, gammaln, nctdtr, ndtri

    rank = ranks[:, None]
    place = np.asarray(ndtri(betaincinv(rank, n + 1 - rank, (_NODES + 1) / 2)))
    count = n - rank
    mean, cm2, cm3, cm4 = _truncated(place.astype(np.float64))
    mean_square, square_square = cm2 / count, (cm4 - cm2**2) / count + 2 * cm2**2 / (count * (count - 1))
    shape, scale = cm2**2 / square_square, square_square / cm2
    sd = np.sqrt(scale) * np.exp(gammaln(shape + 0.5) - gammaln(shape))
    both, sd_square = cm3 / count / (2 * sd), cm2 - sd**2
    slope = both / sd_square
    rest = np.sqrt(mean_square - both**2 / sd_square)
    center = (mean - slope * sd - place) / rest
    reached = nctdtr(2 * shape, center, -np.sqrt(cm2) / rest * (distances[:, None] + slope))
    return np.asarray(1 - reached @ (_WEIGHTS / 2))


def _truncated(bound: Array) -> tuple[Array, Array, Array, Array]:
    """Return mean and second to fourth central moments of a normal value above bounds."""
    from scipy.special import log_ndtr

    hazard = np.exp(-(bound**2) / 2 - np.log(np.sqrt(2 * np.pi)) - log_ndtr(-bound))
    m1 = hazard
    m2 = 1 + bound * hazard
    m3 = 2 * m1 + bound**2 * hazard
    m4 = 3 * m2 + bound**3 * hazard
    return m1, m2 - m1**2, m3 - 3 * m2 * m1 + 2 * m1**3, m4 - 4 * m3 * m1 + 6 * m2 * m1**2 - 3 * m1**4


def levels(
    floods: npt.ArrayLike, chances: Sequence[float], regional: RegionalSkew | None = None, *, intervals: bool = True
) -> list[FloodQuantile]:
    """Return the level for each annual non-exceedance probability (0.9: the flood of 10 years). Fits are cached.

    Args:
        floods: annual maxima, shape (years,), none below 0, in any unit.
        regional: the region's skew, with which the station's is weighted.
        intervals: whether to compute confidence limits, which take most of the time.
    """
    return list(_levels(np.asarray(floods, np.float64).tobytes(), tuple(chances), regional, intervals))


def smallest_used(floods: npt.ArrayLike) -> tuple[int, float]:
    """Return the number of low outliers, dry years included, and the smallest other flood."""
    ordered = np.sort(np.asarray(floods, np.float64))
    count = max(count_low_outliers(ordered), int((ordered <= 0).sum()))
    return count, float(ordered[count])


def fit_record(record: FloodRecord, regional: RegionalSkew | None = None) -> Fit:
    """Fit a record; its low outliers are those of the known floods in years when any flood would have been seen.

    At least half of the floods are above 0.
    """
    tested = (record.low == record.high) & (record.seen_above == 0)
    count, smallest = smallest_used(record.low[tested])
    return fit(record.censored_below(smallest) if count else record, regional)


def fitted_extremes(floods: npt.ArrayLike, regional: RegionalSkew | None = None) -> FittedExtremes:
    """Fit annual maxima, (years,), as `levels` does. Dry years are part of the distribution, as smallest floods."""
    moments = _fit(np.asarray(floods, np.float64).tobytes(), regional).moments
    return FittedExtremes(LogPearson3(np.array(moments.mean), np.array(moments.sd), np.array(moments.skew)))


@lru_cache(maxsize=MAX_FITS)
def _fit(content: bytes, regional: RegionalSkew | None) -> Fit:
    return fit_record(FloodRecord.complete(np.frombuffer(content)), regional)


@lru_cache(maxsize=MAX_FITS)
def _levels(
    content: bytes, chances: tuple[float, ...], regional: RegionalSkew | None, intervals: bool
) -> Sequence[FloodQuantile]:
    floods = np.frombuffer(content)
    unfitted = levels_without_fit(floods, chances)
    if unfitted is not None:
        return unfitted
    fitted, asked = _fit(content, regional), np.array(chances)
    wet = asked > np.mean(floods == 0)
    values = np.where(wet, 10 ** fitted.moments.quantile(asked), 0).tolist()
    if not intervals:
        return [FloodQuantile(value, None, None, absent(Reason.NO_INTERVAL_REQUESTED)) for value in values]
    ends = np.sort(limits(fitted, asked, INTERVAL), axis=0)
    low, high = (np.where(wet, 10**end, 0).tolist() for end in ends)
    return [FloodQuantile(*ends, None) for ends in zip(values, low, high, strict=True)]
