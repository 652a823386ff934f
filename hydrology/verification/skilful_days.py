"""The headline of a verification: until which day ahead forecasts are better than climatology, by month."""

from collections.abc import Mapping
from dataclasses import dataclass

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.scores.bootstrap import MIN_YEARS
from hydrology.verification.reliable_days import why_too_few
from hydrology.verification.results import MonthSkill

MIN_ISSUES = 10
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
        if of_lead is None or of_lead.low is None or (of_lead.independent_issues or 0) < MIN_ISSUES:
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
    return why_too_few(first.independent_issues, MIN_ISSUES) or absent(Reason.RIVAL_IS_PERFECT)
