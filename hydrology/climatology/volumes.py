"""Seasonal volumes, forecast, observed and normal: depths in mm, and million m3 where the basin's area is known."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days, Period, calendar_year, days_between, month
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.units import MM_PER_M, Area
from hydrology.climatology.normals import MIN_YEARS
from hydrology.uncertainty.weighted import of_traces, weighted_quantiles

EXCEEDED_PERCENT = (10, 30, 50, 70, 90)
"""Percentages of equally likely years with a higher volume than the given one."""
SNOW_RULES = 0.5
"""From this snow fraction of precipitation on, the default season is that of the melt."""
MONTHS_AHEAD = 3
M3_PER_MILLION = 1e6

SEASON = "^[0-9]{2}-[0-9]{2}[.][.][0-9]{2}-[0-9]{2}$"
"""The pattern of a season in text."""
_COMMON_YEAR = 2001
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True)
class Season:
    """The same days of every year, between two days of the year.

    It may extend over the turn of the year. 29 February is neither its first nor its last day; within it, it counts.
    """

    first: tuple[int, int]
    last: tuple[int, int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a season, such as `04-01..07-31`."""
        try:
            if re.match(SEASON, text) is None:
                raise ValueError
            first, last = (date.fromisoformat(f"{_COMMON_YEAR}-{end}") for end in text.split(".."))
        except ValueError:
            raise InvalidInput(
                f"{text[:64]!r} is not a part of the year: write MM-DD..MM-DD, e.g. 04-01..07-31; 29 February can be "
                "neither end of it."
            ) from None
        return cls((first.month, first.day), (last.month, last.day))

    def __str__(self) -> str:
        return "{:02}-{:02}..{:02}-{:02}".format(*self.first, *self.last)

    def beginning_in(self, year: int) -> Period:
        """Return the season that begins in a calendar year."""
        return Period(_day(year, self.first), _day(year + (self.last < self.first), self.last))

    def after(self, t0: Day) -> Period:
        """Return the first season with at least one day after T0."""
        year = calendar_year(t0)
        return next(days for days in map(self.beginning_in, range(year - 1, year + 3)) if days.last > t0)

    def within(self, record: Period) -> Iterator[Period]:
        """Yield the seasons that a record covers entirely."""
        for year in range(calendar_year(record.first), calendar_year(record.last) + 1):
            days = self.beginning_in(year)
            if record.overlap(days) == days:
                yield days


MELT = Season((4, 1), (7, 31))


def default_season(snow_share: float | None, t0: Day) -> Season:
    """Return the default season for volumes.

    Where snow rules, April to July; elsewhere, or with an unknown fraction, the month of T0 + 1 day and two more.
    """
    if snow_share is not None and snow_share >= SNOW_RULES:
        return MELT
    begin = (t0 + _DAY).astype("datetime64[M]")
    first, last = int(month(begin)), int(month(begin + MONTHS_AHEAD - 1))
    return Season((first, 1), (last, monthrange(_COMMON_YEAR, last)[1]))


@dataclass(frozen=True, slots=True)
class Observed:
    """The observed part of a season until T0: its depth in mm, and the days without observation."""

    period: Period
    depth: float
    missing: Days

    @classmethod
    def of(cls, period: Period, flow: Array) -> Self:
        """Sum the flow of a period, (days,) in mm/day, NaN where not observed."""
        known = np.isfinite(flow)
        return cls(period, float(flow[known].sum()), period.days[~known])


@dataclass(frozen=True, slots=True)
class Normal:
    """The normal volume of a season, mm, from other years observed entirely, named by the year it begins in."""

    mean: float
    median: float
    years: tuple[int, ...]


def normal(flow: Array, record: Period, season: Season, shown: Period) -> Normal | Absent:
    """Return the normal volume from flow (days,) in mm/day, NaN where not observed, without the `shown` days."""
    of_years = depths(flow, record, season, shown)
    if len(of_years) < MIN_YEARS:
        return absent(Reason.TOO_FEW_SEASONS, season=str(season), years=len(of_years), needed=MIN_YEARS)
    volumes = np.array(list(of_years.values()))
    return Normal(float(volumes.mean()), float(np.median(volumes)), tuple(of_years))


def depths(flow: Array, record: Period, season: Season, shown: Period) -> dict[int, float]:
    """Return depths in mm of entirely observed seasons, by the year each begins in; arguments as of `normal`."""
    of_years = {}
    for days in season.within(record):
        start = days_between(record.first, days.first)
        depth = float(flow[start : start + len(days)].sum())
        if days != shown and np.isfinite(depth):
            of_years[calendar_year(days.first)] = depth
    return of_years


def exceeded(paths: Array, days: slice, weights: Array | None = None) -> Array:
    """Return the depths (mm, decreasing) that sums of paths over `days` exceed at `EXCEEDED_PERCENT`.

    Paths are (members, ..., days) in mm/day, equally likely of a member; weights (members,), of sum 1, None: all equal.
    """
    sums = paths[..., days].sum(axis=-1, dtype=np.float64)
    of_paths = of_traces(weights, sums.size // len(sums))
    return weighted_quantiles(sums.ravel(), [1 - percent / 100 for percent in EXCEEDED_PERCENT], of_paths)


def million_m3(depth: npt.ArrayLike, area: Area) -> Array:
    """Convert depths in mm over an area to volumes in million m3, any shape."""
    return np.asarray(depth, dtype=np.float64) / MM_PER_M * area.m2 / M3_PER_MILLION


def _day(year: int, month_and_day: tuple[int, int]) -> Day:
    return np.datetime64(date(year, *month_and_day), "D")
