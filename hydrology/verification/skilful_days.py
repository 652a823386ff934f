"""Until which day ahead forecasts are better than climatology: reliable in all seasons, skilful by month.

Reliable forecasts have a range that holds; both are stated of enough independent issues only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Days
from hydrology.base.reasons import Reason
from hydrology.scores.bootstrap import MIN_YEARS
from hydrology.verification.results import MonthSkill


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadSkill:
    """Skill of calibrated forecasts at a lead; `month` is that on the days of the month asked for."""

    lead: int
    independent_issues: int | None
    crpss_climatology: float
    crpss_climatology_low: float | None
    coverage_90: float | None
    month: MonthSkill | None


@dataclass(frozen=True, slots=True)
class ReliableDays:
    """The number of days ahead with reliable forecasts: the last lead up to which all are, 0 for none.

    `independent_issues` are counted at that lead, or at the first.
    """

    days: int
    independent_issues: int


def reliable_days(leads: Sequence[LeadSkill]) -> ReliableDays | Absent:
    """Return until which day ahead forecasts are reliable, from a forecaster's scores at each lead, in order."""
    first = leads[0].independent_issues
    if (too_few := why_too_few(first, MIN_ISSUES)) is not None:
        return too_few
    reliable = [*takewhile(_is_reliable, leads)]
    of_last = reliable[-1].independent_issues if reliable else first
    return ReliableDays(reliable[-1].lead if reliable else 0, of_last or 0)


def _is_reliable(of_lead: LeadSkill) -> bool:
    lowest = of_lead.crpss_climatology if of_lead.crpss_climatology_low is None else of_lead.crpss_climatology_low
    enough = (of_lead.independent_issues or 0) >= MIN_ISSUES
    return enough and (lowest or 0) > 0 and (of_lead.coverage_90 or 0) >= MIN_COVERAGE


MIN_MONTH_ISSUES = 10
"""Minimum number of independent forecasts: the interval, which draws water years, does not see how few a year has."""


@dataclass(frozen=True, slots=True)
class SkilfulDays:
    """The number of days ahead with skill.

    Attributes:
        days: the last lead up to which, from the first on, the whole interval of the skill is above 0; 0 for none.
        verified_days: the last lead with an interval of enough independent forecasts, from the first on. Skill may last
            longer if both are equal.
        independent_issues: number of independent forecasts at the lead `days`, or at the first.
    """

    days: int
    verified_days: int
    independent_issues: int


def skilful_days(by_lead: Mapping[int, MonthSkill]) -> SkilfulDays | Absent:
    """Return until which day ahead forecasts are skilful against climatology, by a month's skill at each lead."""
    verified: list[tuple[float, int]] = []
    for lead in range(1, max(by_lead, default=0) + 1):
        of_lead = by_lead.get(lead)
        if of_lead is None or of_lead.low is None or (of_lead.independent_issues or 0) < MIN_MONTH_ISSUES:
            break
        verified.append((of_lead.low, of_lead.independent_issues or 0))
    if verified:
        days = next((at for at, (low, _) in enumerate(verified) if low <= 0), len(verified))
        return SkilfulDays(days, len(verified), verified[max(days, 1) - 1][1])
    return _why_none(by_lead.get(1))


def _why_none(first: MonthSkill | None) -> Absent:
    if first is None or not first.n:
        return absent(Reason.NO_LEAD_VERIFIED)
    if first.years < MIN_YEARS:
        return absent(Reason.TOO_FEW_WATER_YEARS, years=first.years, minimum=MIN_YEARS)
    return why_too_few(first.independent_issues, MIN_MONTH_ISSUES) or absent(Reason.RIVAL_IS_PERFECT)
