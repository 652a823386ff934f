"""Until which day ahead forecasts are reliable: better than climatology, with a range that holds, in enough issues."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Days
from hydrology.base.reasons import Reason


def independent_issues(days: Days, lead: int) -> int:
    """Return the largest number of forecasts, by their days in any order, whose lead windows do not overlap.

    The lead window of a forecast is its days after T0 up to a lead: those of two forecasts overlap where the forecasts
    were issued fewer days apart than the lead. So ten daily forecasts of the tenth day ahead are one independent issue.
    """
    count, last = 0, -np.inf
    for day in np.unique(days).astype(np.int64).tolist():
        if day - last >= lead:
            count, last = count + 1, day
    return count


def why_too_few(issues: int | None, minimum: int) -> Absent | None:
    """Return why so few independent issues (None: not counted) carry no word on skill; None where they do."""
    if issues is None:
        return absent(Reason.ISSUES_NOT_COUNTED)
    return absent(Reason.TOO_FEW_INDEPENDENT_ISSUES, issues=issues, minimum=minimum) if issues < minimum else None


MIN_COVERAGE = 0.8
"""Share of days that the 90 % range must hold for a lead to count as reliable."""
MIN_ISSUES = 30
"""Minimum number of independent forecasts: with fewer, chance alone takes a 90 % range that holds below 80 %."""


class OfLead(Protocol):
    """Scores at a lead, as `hydrology.verification.results.Verification`."""

    @property
    def lead(self) -> int: ...
    @property
    def independent_issues(self) -> int | None: ...
    @property
    def crpss_climatology(self) -> float | None: ...
    @property
    def crpss_climatology_low(self) -> float | None: ...
    @property
    def coverage_90(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class ReliableDays:
    """The number of days ahead with reliable forecasts: the last lead up to which all are, 0 for none.

    `independent_issues` are counted at that lead, or at the first.
    """

    days: int
    independent_issues: int


def reliable_days(leads: Sequence[OfLead]) -> ReliableDays | Absent:
    """Return until which day ahead forecasts are reliable, from a forecaster's scores at each lead, in order."""
    first = leads[0].independent_issues
    if (too_few := why_too_few(first, MIN_ISSUES)) is not None:
        return too_few
    reliable = [*takewhile(_is_reliable, leads)]
    of_last = reliable[-1].independent_issues if reliable else first
    return ReliableDays(reliable[-1].lead if reliable else 0, of_last or 0)


def _is_reliable(of_lead: OfLead) -> bool:
    lowest = of_lead.crpss_climatology if of_lead.crpss_climatology_low is None else of_lead.crpss_climatology_low
    enough = (of_lead.independent_issues or 0) >= MIN_ISSUES
    return enough and (lowest or 0) > 0 and (of_lead.coverage_90 or 0) >= MIN_COVERAGE
