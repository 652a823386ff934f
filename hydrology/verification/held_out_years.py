"""Days that a training used, and the split of held-out ones into years that decide a promotion or only report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hydrology.base.arrays import Mask
from hydrology.base.calendar import Period, water_year
from hydrology.base.errors import InvalidInput
from hydrology.scores import bootstrap

PeriodUse = Literal["held out", "validation", "training", "mixed"]
"""The use of a period's days in a training: none; all of them chose the weights; all of them were fitted; or some, or,
of a network that combines others, by some."""
MIN_YEARS = bootstrap.MIN_YEARS + 1
"""Minimum number of whole water years: those that an interval needs decide, and one more reports."""


@dataclass(frozen=True, slots=True)
class HeldOutYears:
    """Two disjoint sets of water years, each named by the year it ends in.

    Attributes:
        deciding: those that settle a decision.
        reporting: those that show the skill, and had no part in the decision.
    """

    deciding: tuple[int, ...]
    reporting: tuple[int, ...]


def use_of(period: Period, fitted: Sequence[Period], validated: Sequence[Period]) -> PeriodUse:
    """Return how a training used the days of a period.

    Args:
        fitted: the days that its weights were fitted to.
        validated: those that chose its weights.
    """
    in_fit, in_choice = _within(period, fitted), _within(period, validated)
    if in_fit.all():
        return "training"
    if not (in_fit | in_choice).any():
        return "held out"
    return "validation" if in_choice.all() and not in_fit.any() else "mixed"


def _within(period: Period, periods: Sequence[Period]) -> Mask:
    """Return which days of a period lie within others."""
    days = period.days
    inside = np.zeros(len(days), bool)
    for other in periods:
        inside |= (days >= other.first) & (days <= other.last)
    return inside


def split_years(period: Period) -> HeldOutYears:
    """Split a period into deciding and reporting years.

    Every third whole water year reports.

    Raises:
        InvalidInput: the period holds fewer than `MIN_YEARS` whole water years.
    """
    years = whole_water_years(period)
    if len(years) < MIN_YEARS:
        raise InvalidInput(
            f"{period} holds {len(years)} whole water years (October to September), and a promotion is decided on at "
            f"least {MIN_YEARS}: name a longer period, or compare the versions (freshet compare) and promote one "
            "yourself (freshet models promote)."
        )
    reporting = tuple(years[2::3])
    return HeldOutYears(tuple(year for year in years if year not in reporting), reporting)


def whole_water_years(period: Period) -> list[int]:
    """Return the water years that the period covers entirely, in order."""
    years, days = np.unique(water_year(period.days), return_counts=True)
    return [int(year) for year, n in zip(years, days, strict=True) if n == len(year_of(int(year)))]


def year_of(year: int) -> Period:
    """Return the days of the water year that ends in a calendar year."""
    return Period(np.datetime64(f"{year - 1}-10-01"), np.datetime64(f"{year}-09-30"))
