"""Flood levels by Bulletin 17C: log-Pearson III, low outliers left out, with confidence limits.

Source: England et al. 2019, "Guidelines for Determining Flood Flow Frequency, Bulletin 17C", doi:10.3133/tm4B5. Dry
years and small floods that the test finds count as years with a flood below the smallest other one.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.extremes.expected_moments import Fit, FloodRecord, RegionalSkew, fit, limits
from hydrology.extremes.frequency import INTERVAL, MAX_FITS, FloodQuantile, levels_without_fit
from hydrology.extremes.low_outliers import count_low_outliers


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


def fit_gauge(floods: npt.ArrayLike, regional: RegionalSkew | None = None) -> Fit:
    """Fit the floods of a gauge without gaps, of which at least half are above 0."""
    return fit_record(FloodRecord.complete(floods), regional)


def fit_record(record: FloodRecord, regional: RegionalSkew | None = None) -> Fit:
    """Fit a record; its low outliers are those of the known floods in years when any flood would have been seen."""
    tested = (record.low == record.high) & (record.seen_above == 0)
    count, smallest = smallest_used(record.low[tested])
    return fit(record.censored_below(smallest) if count else record, regional)


@lru_cache(maxsize=MAX_FITS)
def _levels(
    content: bytes, chances: tuple[float, ...], regional: RegionalSkew | None, intervals: bool
) -> Sequence[FloodQuantile]:
    floods = np.frombuffer(content)
    unfitted = levels_without_fit(floods, chances)
    if unfitted is not None:
        return unfitted
    fitted, asked = fit_gauge(floods, regional), np.array(chances)
    wet = asked > np.mean(floods == 0)
    values = np.where(wet, 10 ** fitted.moments.quantile(asked), 0).tolist()
    if not intervals:
        return [FloodQuantile(value, None, None, absent(Reason.NO_INTERVAL_REQUESTED)) for value in values]
    low, high = (np.where(wet, 10**end, 0).tolist() for end in _ordered(limits(fitted, asked, INTERVAL)))
    return [FloodQuantile(*ends, None) for ends in zip(values, low, high, strict=True)]


def _ordered(ends: tuple[Array, Array]) -> tuple[Array, Array]:
    return np.minimum(*ends), np.maximum(*ends)
