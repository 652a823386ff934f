"""Return periods of flows, by the fits behind a record's flood levels.

A flow above the flood of two years has that of annual floods: the mean number of years between years with a higher one.
Below, it is the mean time between independent floods: annual maxima, which leave the smaller floods of a year out,
overstate it (Langbein 1949, doi:10.1029/TR030i006p00879: where floods are random in time, 1.44 years of the one are 2
of the other).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.extremes.frequency import FittedExtremes
from hydrology.extremes.levels import FLOOD_YEARS, FREQUENT_FLOOD_YEARS, FloodFrequency, Statistic

Bound = Literal["more", "less"]
TIMES_RECORD = 2
"""Longest return period that a record supports, in its own lengths."""


@dataclass(frozen=True, slots=True)
class ReturnPeriod:
    """A return period in years, or the bound that it lies beyond."""

    years: float
    bound: Bound | None = None

    @property
    def rare(self) -> str | None:
        """Describe it in words; None where it is less than that of the most frequent flood."""
        return None if self.bound == "less" else self.in_words

    @property
    def in_words(self) -> str:
        """Describe it: `about 7.4 years`, `more than 70 years`."""
        number = f"{self.years:.2g}" if self.years < 100 else f"{self.years:.0f}"
        return f"{'about' if self.bound is None else f'{self.bound} than'} {number} year{'' if number == '1' else 's'}"


@dataclass(frozen=True, slots=True)
class ReturnPeriods:
    """The fits of a record of `years` that give a flow its return period, in the record's unit."""

    years: int
    annual: FittedExtremes
    frequent: FittedExtremes | None

    @classmethod
    def of(cls, statistics: Sequence[Statistic], floods: FloodFrequency) -> Self | Absent:
        """Return the fits of the levels of a record, or why nothing could be fitted."""
        (annual,) = (one for one in statistics if one.kind == "flood" and not floods.compares(one))
        (frequent,) = (one for one in statistics if one.kind == "frequent-flood")
        if annual.fit is None:
            return annual.levels[0].level.reason or absent(Reason.DRY_IN_EVERY_YEAR, years=annual.years)
        return cls(annual.years, annual.fit, frequent.fit)

    def of_flow(self, flow: float) -> ReturnPeriod:
        """Return the return period of a flow: at most that of the longest supported, at least of frequent floods."""
        years, longest = self.annual.years_between(flow), float(TIMES_RECORD * self.years)
        shortest = float(FLOOD_YEARS[0])
        if years < shortest and self.frequent is not None:
            years = min(self.frequent.years_between(flow), shortest) if flow > self.frequent.threshold else 0.0
            shortest = max(FREQUENT_FLOOD_YEARS[0], 1 / self.frequent.per_year)
        if years > longest:
            return ReturnPeriod(longest, "more")
        return ReturnPeriod(shortest, "less") if years < shortest else ReturnPeriod(years)
