"""Climatology of flow: observations of other water years at the same time of the year."""

from collections.abc import Sequence

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Day, Days, day_of_year, days_left, water_year
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
