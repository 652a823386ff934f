"""Climatology of flow: observations of other water years at the same time of the year."""

from collections.abc import Sequence

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days, day_of_year, water_year
from hydrology.base.reasons import Reason

NEAR_DAYS = 7
"""Half-width in days of the window around a day of the year."""


class FlowClimatology:
    """Observed flow of other water years, within a week of the day of the year.

    Args:
        days: of the record, (days,).
        observed: (days,), NaN where missing; the quantiles are in its unit.
        levels: of the quantiles.
    """

    def __init__(self, days: Days, observed: Array, levels: Sequence[float]) -> None:
        known = np.isfinite(observed)
        self._observed, self._years, self._of_year = observed[known], water_year(days[known]), day_of_year(days[known])
        self._levels = levels
        self._known: dict[tuple[int, int], Array | None] = {}

    def quantiles(self, days: Days) -> Array | Absent:
        """Return quantiles (days, levels), or the reason for none. A day has no other year."""
        rows = [self._of(int(year), int(at)) for year, at in zip(water_year(days), day_of_year(days), strict=True)]
        complete = [row for row in rows if row is not None]
        if len(complete) < len(rows):
            day: Day = days[[row is None for row in rows].index(True)]
            return absent(Reason.NO_OTHER_WATER_YEAR, near=NEAR_DAYS, day=str(day))
        return np.reshape(complete, (len(days), len(self._levels)))

    def _of(self, year: int, day: int) -> Array | None:
        if (year, day) not in self._known:
            apart = np.abs(self._of_year - day)
            near = (np.minimum(apart, 365 - apart) <= NEAR_DAYS) & (self._years != year)
            self._known[year, day] = np.quantile(self._observed[near], self._levels) if near.any() else None
        return self._known[year, day]
