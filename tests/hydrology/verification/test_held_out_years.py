"""The years of a held-out period that decide, and those that report."""

import pytest

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.verification.held_out_years import PeriodUse, joint_use, split_years, use_of, whole_water_years


@pytest.mark.parametrize(
    ("period", "years"),
    [
        ("1999-10-01..2001-09-30", [2000, 2001]),
        ("1999-10-02..2001-09-30", [2001]),
        ("1999-10-01..2001-09-29", [2000]),
        ("2000-01-01..2000-12-31", []),
    ],
)
def test_whole_water_years(period: str, years: list[int]) -> None:
    assert whole_water_years(Period.parse(period)) == years


def test_every_third_year_is_a_reporting_year() -> None:
    years = split_years(Period.parse("1989-10-01..1999-09-30"))
    assert years.deciding == (1990, 1991, 1993, 1994, 1996, 1997, 1999)
    assert years.reporting == (1992, 1995, 1998)


def test_four_years_are_enough_and_three_are_not() -> None:
    years = split_years(Period.parse("1989-10-01..1993-09-30"))
    assert (years.deciding, years.reporting) == ((1990, 1991, 1993), (1992,))
    with pytest.raises(InvalidInput, match=r"holds 3 whole water years .* at least 4: name a longer period"):
        split_years(Period.parse("1989-10-01..1993-09-29"))


def test_the_use_of_days_in_a_training() -> None:
    fitted = [Period.parse("1999-10-01..2001-09-30"), Period.parse("2003-10-01..2008-09-30")]
    validated = [Period.parse("1989-10-01..1999-09-30")]
    for days, use in (
        ("2000-10-01..2001-09-30", "training"),
        ("1990-10-01..1991-09-30", "validation"),
        ("2001-10-01..2003-09-30", "held out"),  # between the days that were fitted
        ("2001-09-30..2003-09-30", "mixed"),  # one day of it was fitted
        ("1989-09-30..1989-10-01", "mixed"),
        ("1999-09-30..1999-10-01", "mixed"),  # one chose, one was fitted
        ("1989-10-01..2008-09-30", "mixed"),
    ):
        assert use_of(Period.parse(days), fitted, validated) == use, days
    assert use_of(Period.parse("1990-10-01..1991-09-30"), [], []) == "unknown"  # a training without days states none


def test_several_uses_of_days_are_mixed_unless_they_are_the_same() -> None:
    cases: list[tuple[tuple[PeriodUse, ...], PeriodUse]] = [
        (("held out", "held out"), "held out"),
        (("training",), "training"),
        (("held out", "training"), "mixed"),
        (("validation", "training"), "mixed"),
        (("held out", "unknown"), "unknown"),
        ((), "unknown"),
    ]
    for uses, joint in cases:
        assert joint_use(uses) == joint, uses
