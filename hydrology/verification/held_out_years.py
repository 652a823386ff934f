"""Days that a training used, and the split of held-out ones into years that decide a promotion or only report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from hydrology.base.arrays import Mask
from hydrology.base.calendar import Period, water_year
from hydrology.base.errors import InvalidInput
from hydrology.scores import bootstrap

PeriodUse = Literal["held out", "validation", "training", "mixed", "unknown"]
"""How a training used a period's days of a basin.

`held out`: none, for no day took part in it, or, in any year, because the basin did not: it is held out in space, and
its flow was never seen, though that of a gauge up or down the river may have been. `validation`: all days chose the
weights. `training`: all were fitted. `mixed`: some were, or by some of the networks that one combines, or in some of
several basins. `unknown`: the training does not state its days."""
HELD_OUT: Final = "held out"
MIN_YEARS = bootstrap.MIN_YEARS + 1
"""Minimum number of whole water years: those that an interval needs decide, and one more reports."""


@dataclass(frozen=True, slots=True)
class HeldOutYears:
    """Disjoint water years (by the year they end in): those that decide, and those that only report the skill."""

    deciding: tuple[int, ...]
    reporting: tuple[int, ...]


def use_of(period: Period, fitted: Sequence[Period], validated: Sequence[Period]) -> PeriodUse:
    """Return how a training that fitted some days, and chose its weights by others, used those of a period."""
    if not fitted and not validated:
        return "unknown"
    in_fit, in_choice = _within(period, fitted), _within(period, validated)
    if in_fit.all():
        return "training"
    if not (in_fit | in_choice).any():
        return HELD_OUT
    return "validation" if in_choice.all() and not in_fit.any() else "mixed"


def joint_use(uses: Iterable[PeriodUse]) -> PeriodUse:
    """Return how several trainings used the same days, or one the days of several basins."""
    different = {*uses}
    if len(different) == 1:
        return different.pop()
    return "mixed" if different and "unknown" not in different else "unknown"


def _within(period: Period, periods: Sequence[Period]) -> Mask:
    days = period.days
    inside = np.zeros(len(days), bool)
    for other in periods:
        inside |= (days >= other.first) & (days <= other.last)
    return inside


def split_years(period: Period) -> HeldOutYears:
    """Split a period of at least `MIN_YEARS` whole water years: every third reports, the others decide."""
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
