"""Overlapping forecasts are few independent ones, and too few carry no word on their skill."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.absent import Absent
from hydrology.verification import skilful_days
from hydrology.verification.results import MonthSkill
from hydrology.verification.skilful_days import LeadSkill, ReliableDays, SkilfulDays, independent_issues

FIRST = np.datetime64("2024-05-01")


def of_lead(lead: int, issues: int | None, **scores: Any) -> LeadSkill:
    """Return the skill of a lead."""
    plain = LeadSkill(
        lead=lead,
        independent_issues=issues,
        crpss_climatology=0.5,
        crpss_climatology_low=None,
        coverage_90=0.9,
        month=None,
    )
    return replace(plain, **scores)


def test_forecasts_are_independent_where_their_lead_windows_do_not_overlap() -> None:
    for days, lead, issues in (
        (range(23), 10, 3),  # daily forecasts of one May
        (range(23), 1, 23),
        (range(23), 23, 1),
        ([0, 10, 20], 10, 3),  # from the last day of one window to the first of the next
        ([0, 9, 18], 10, 2),
        ([20, 0, 0, 19], 10, 2),  # in any order, with a day twice
        ([], 10, 0),
    ):
        assert independent_issues(FIRST + np.array(days, int), lead) == issues, (days, lead)


@given(st.sets(st.integers(0, 40), max_size=8), st.integers(1, 12))
def test_no_more_forecasts_could_be_independent(days: set[int], lead: int) -> None:
    def most(rest: list[int]) -> int:
        if not rest:
            return 0
        first, *others = rest
        return max(most(others), 1 + most([day for day in others if day - first >= lead]))

    assert independent_issues(FIRST + np.array(sorted(days), int), lead) == most(sorted(days))


def test_forecasts_are_reliable_to_the_last_lead_of_enough_independent_ones() -> None:
    decade = [of_lead(lead, 1000 // lead) for lead in range(1, 11)]
    assert skilful_days.reliable_days(decade) == ReliableDays(10, 100)
    assert skilful_days.reliable_days([*decade[:4], of_lead(5, 200, crpss_climatology_low=-0.1)]) == ReliableDays(
        4, 250
    )
    assert skilful_days.reliable_days([*decade[:4], of_lead(5, 200, coverage_90=0.79)]) == ReliableDays(4, 250)
    assert skilful_days.reliable_days([of_lead(1, 1000, crpss_climatology=-0.1)]) == ReliableDays(0, 1000)
    season = [of_lead(lead, 90 // lead) for lead in range(1, 11)]
    assert skilful_days.reliable_days(season) == ReliableDays(3, skilful_days.MIN_ISSUES)


def test_forecasts_of_one_month_carry_no_word() -> None:
    of_may = [of_lead(lead, independent_issues(FIRST + np.arange(23), lead)) for lead in range(1, 11)]
    for leads, code in ((of_may, "too_few_independent_issues"), ([of_lead(1, None)], "issues_not_counted")):
        found = skilful_days.reliable_days(leads)
        assert isinstance(found, Absent)
        assert found.code == code
    assert "Only 23 of the verified forecasts" in str(skilful_days.reliable_days(of_may))


def test_a_month_is_skilful_to_the_last_lead_of_enough_independent_forecasts() -> None:
    def months(*issues: int | None, low: float = 0.1) -> dict[int, MonthSkill]:
        return {lead: MonthSkill(5, 90, 3, 0.5, low, 0.9, number) for lead, number in enumerate(issues, start=1)}

    assert skilful_days.skilful_days(months(90, 30, 10)) == SkilfulDays(3, 3, 10)
    assert skilful_days.skilful_days(months(90, 30, 9)) == SkilfulDays(2, 2, 30)
    assert skilful_days.skilful_days(months(90, 30, low=-0.1)) == SkilfulDays(0, 2, 90)
    for issues, code in ((9, "too_few_independent_issues"), (None, "issues_not_counted")):
        found = skilful_days.skilful_days(months(issues))
        assert isinstance(found, Absent)
        assert found.code == code
