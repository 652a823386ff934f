"""Selects the days of other years for the days ahead: their weather is that of an ESP, and that around a forecast."""

from functools import lru_cache

import numpy as np

from hydrology.base.arrays import Mask
from hydrology.base.calendar import Days, Period, month, same_day

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
