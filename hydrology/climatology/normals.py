"""Normals of a day, from other years at the same time of the year."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Days, Period, same_day
from hydrology.base.reasons import Reason
from hydrology.climatology.flow_climatology import NEAR_DAYS

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Levels of the quantiles beside the mean."""
MIN_YEARS = 10
"""Normals of fewer years would reflect these years more than the river."""
MIN_DAYS = NEAR_DAYS + 1
"""Minimum number of known days in a year's window, more than half, for the year to count."""

_AROUND = np.arange(-NEAR_DAYS, NEAR_DAYS + 1)


@dataclass(frozen=True, slots=True)
class Normals:
    """Normals of some days, in the unit of the values; NaN where fewer than `MIN_YEARS` are known.

    Attributes:
        quantiles: (levels, days), at `LEVELS`.
        years: number of other years that count, (days,).
    """

    mean: Array
    quantiles: Array
    years: Integers


def normals(values: npt.NDArray[np.floating], record: Period, days: Days) -> Normals:
    """Return normals of days, in the record or not, from other years' values within `NEAR_DAYS` of each.

    1 March replaces 29 February in years that have none. Values are (days of the record,), NaN where missing.
    """
    around, years = _of_other_years(values, record, days)
    enough = years >= MIN_YEARS
    quantiles = np.full((len(LEVELS), len(days)), np.nan)
    quantiles[:, enough] = _quantiles(around[enough])
    return Normals(_means(around, enough), quantiles, years)


def normal_means(values: npt.NDArray[np.floating], record: Period, days: Days) -> Array:
    """Return the means of `normals`, (..., days), of values (..., days of the record), NaN where missing."""
    around, years = _of_other_years(values, record, days)
    return _means(around, years >= MIN_YEARS)


def too_few_years(days: int, of: int) -> Absent:
    """Return why some of the requested days have no normal."""
    return absent(Reason.TOO_FEW_YEARS, days=days, of=of, years=MIN_YEARS, near=NEAR_DAYS)


def _of_other_years(
    values: npt.NDArray[np.floating], record: Period, days: Days
) -> tuple[npt.NDArray[np.floating], Integers]:
    """Return values around each day in other years (..., days, values), and the years with enough (..., days)."""
    years = np.arange(record.first.astype("datetime64[Y]"), record.last.astype("datetime64[Y]") + 1)
    others = years != days.astype("datetime64[Y]")[:, np.newaxis]
    at = (same_day(days[:, np.newaxis], years) - record.first).astype(np.int64)[..., np.newaxis] + _AROUND
    known = others[..., np.newaxis] & (at >= 0) & (at < len(record))
    around = np.where(known, values[..., np.where(known, at, 0)], np.nan)
    count = np.isfinite(around).sum(axis=-1) >= MIN_DAYS
    around[~count] = np.nan
    return around.reshape(*count.shape[:-1], -1), count.sum(axis=-1)


def _means(around: npt.NDArray[np.floating], enough: Mask) -> Array:
    means = np.full(enough.shape, np.nan)
    means[enough] = np.nanmean(around[enough], axis=-1, dtype=np.float64)
    return means


def _quantiles(around: npt.NDArray[np.floating]) -> Array:
    """Return the quantiles (levels, days) of the known values of each day, as `numpy.nanquantile`, but faster."""
    in_order = np.sort(around, axis=-1).astype(np.float64)  # with unknown values at the end
    place = np.multiply.outer(LEVELS, np.isfinite(around).sum(axis=-1) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = (np.take_along_axis(in_order, at.T, axis=-1).T for at in (below, np.ceil(place).astype(np.int64)))
    return np.asarray(low + (place - below) * (high - low))
