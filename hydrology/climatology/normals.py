"""Climatology: flow, normals and weather of other years at the same time of the year."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Day, Days, Period, day_of_year, days_left, month, same_day, water_year
from hydrology.base.reasons import Reason

NEAR_DAYS = 7
"""Half-width in days of the window around a day of the year."""


class FlowClimatology:
    """Observed flow of other water years, within a week of the day of the year.

    Around the turn of the water year, days within a week of the day itself are left out, too. Flow is (days,), NaN
    where missing; the quantiles are in its unit.
    """

    def __init__(self, days: Days, observed: Array, levels: Sequence[float]) -> None:
        known = np.isfinite(observed)
        self._observed, self._days = observed[known], days[known]
        self._years, self._of_year = water_year(self._days), day_of_year(self._days)
        self._left = days_left(self._days)
        self._levels = levels
        self._known: dict[Day, Array | None] = {}

    def quantiles(self, days: Days) -> Array | Absent:
        """Return quantiles (days, levels), or the reason for none. A day has no other year."""
        rows = [self._of(day) for day in days]
        complete = [row for row in rows if row is not None]
        if len(complete) < len(rows):
            first = days[[row is None for row in rows].index(True)]
            return absent(Reason.NO_OTHER_WATER_YEAR, near=NEAR_DAYS, day=str(first))
        return np.reshape(complete, (len(days), len(self._levels)))

    def damped(self, last_observed: Array, lead: int) -> Array:
        """Return flow on its way from the last observed (days,) to the mean, by the record's correlation at the lead.

        Without pairs of days at that lead it is the mean.
        """
        at = np.searchsorted(self._days, self._days + lead)
        paired = np.flatnonzero(at < len(self._days))
        paired = paired[self._days[at[paired]] == self._days[paired] + lead]
        first, later = self._observed[paired], self._observed[at[paired]]
        memory = float(np.corrcoef(first, later)[0, 1]) if len(paired) > 1 and first.std() * later.std() else 0.0
        mean = float(self._observed.mean())
        return np.asarray(mean + memory * (last_observed - mean))

    def _of(self, day: Day) -> Array | None:
        if day not in self._known:
            chosen = self._near(day)
            self._known[day] = np.quantile(self._observed[chosen], self._levels) if chosen.any() else None
        return self._known[day]

    def _near(self, day: Day) -> Mask:
        alone = np.array([day])
        of_year, left = day_of_year(alone), days_left(alone)
        within, across = np.abs(self._of_year - of_year), np.minimum(self._left + of_year, self._of_year + left)
        is_other = (self._years != water_year(alone)) & (np.abs(self._days - day) > np.timedelta64(NEAR_DAYS, "D"))
        return np.asarray((np.minimum(within, across) <= NEAR_DAYS) & is_other)


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

    Quantiles are (levels, days), at `LEVELS`; `years` is the number of other years that count, (days,).
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


MIN_SIMILAR = 20
SHIFT, MAX_SHIFT = 5, 45
"""Days by which the days of other years are moved, and at most."""


def other_years(ahead: Period, record: Period) -> dict[str, Days]:
    """Return the days of other years for the days ahead (at most a year), by the year they begin in.

    They begin on the same day of the same month and are consecutive. A 29 February that the days ahead lack is left
    out; where the other year has none, 1 March replaces it, and each later day the one before. Years that the record
    does not cover entirely, and those whose days are themselves ahead (T0's own), are left out.
    """
    skips_leap_day = not _leap_days(ahead.days).any()
    by_year: dict[str, Days] = {}
    for year in np.arange(record.first.astype("datetime64[Y]"), record.last.astype("datetime64[Y]") + 1):
        days = same_day(ahead.first, year) + np.arange(len(ahead) + 1)
        days = days[~(skips_leap_day & _leap_days(days))][: len(ahead)]
        if record.first <= days[0] and days[-1] <= record.last and Period(days[0], days[-1]).overlap(ahead) is None:
            by_year[str(year)] = days
    return by_year


@lru_cache(maxsize=512)  # the basins of a run share their days and mostly their records
def similar_days(ahead: Period, record: Period) -> tuple[Days, ...]:
    """Return days of the record that the days ahead may be like: those of other years, at least `MIN_SIMILAR` of them.

    Where the record has too few other years, days that begin up to `MAX_SHIFT` days earlier or later join them.
    """
    found: list[Days] = []
    for shift in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1, SHIFT), key=abs):
        if shift and len(found) >= MIN_SIMILAR:
            break
        later = np.timedelta64(shift, "D")
        moved = other_years(Period(ahead.first + later, ahead.last + later), record)
        found += [days for days in moved.values() if Period(days[0], days[-1]).overlap(ahead) is None]
    return tuple(found)


def _leap_days(days: Days) -> Mask:
    of_month = (days - days.astype("datetime64[M]")).astype(int)
    return np.asarray((month(days) == 2) & (of_month == 28))
