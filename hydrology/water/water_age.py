"""Age classes of a basin's water: the seasons in which it fell."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Days

OLDER, YET_TO_FALL = "older", "yet_to_fall"
SEASONS = ("DJF", "MAM", "JJA", "SON")
MONTHS = 3
REPORTED_SEASONS = 5
"""The season of T0, which may have just started, and the four before it: a year and up to three months."""
MIN_DAYS = 365
"""Minimum days from the empty store to T0: with a shorter past no water could be older than a year."""


@dataclass(frozen=True, slots=True)
class Ages:
    """The ages of water at T0, oldest first: older than the reported seasons, each of these, and water that falls after
    T0."""

    t0: Day

    @property
    def names(self) -> tuple[str, ...]:
        """`older`, five seasons such as `2008-DJF` (named by the year in which they end), `yet_to_fall`."""
        return OLDER, *(_name(number) for number in range(self._first, self._first + REPORTED_SEASONS)), YET_TO_FALL

    @property
    def begin(self) -> Day:
        """The first day of the first season."""
        return _first_day(self._first)

    @property
    def ends(self) -> tuple[tuple[Day | None, Day | None], ...]:
        """The first and the last day on which the water of each age fell; None where there is no such day."""
        firsts = [_first_day(number) for number in range(self._first, self._first + REPORTED_SEASONS)]
        lasts = [*(first - 1 for first in firsts[1:]), self.t0]
        return (None, self.begin - 1), *zip(firsts, lasts, strict=True), (self.t0 + 1, None)

    def of(self, days: Days) -> npt.NDArray[np.int64]:
        """Return the index of the age of water that falls on each day."""
        places = np.maximum(_number(days) - self._first + 1, 0)
        return np.where(days > self.t0, REPORTED_SEASONS + 1, places)

    @property
    def _first(self) -> int:
        return int(_number(np.array([self.t0]))[0]) - REPORTED_SEASONS + 1


def _number(days: Days) -> npt.NDArray[np.int64]:
    """Return the number of each day's season, counted from DJF 1970."""
    return (days.astype("datetime64[M]").astype(np.int64) + 1) // MONTHS


def _first_day(number: int) -> Day:
    first: Day = (np.datetime64("1970-01", "M") + MONTHS * number - 1).astype("datetime64[D]")
    return first


def _name(number: int) -> str:
    return f"{1970 + number // len(SEASONS)}-{SEASONS[number % len(SEASONS)]}"
