"""31 December of leap years, where a source's years have 365 days."""

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.series import DailySeries, Flag, first_needed, lacking, with_lacking_days, with_lacking_days_marked


def of_days(first: str, values: list[float]) -> DailySeries:
    array = np.array(values, dtype=np.float64)
    return DailySeries(day(first), array, np.where(np.isnan(array), Flag.ABSENT, 0).astype(np.uint8), "mm/day")


def test_the_last_day_of_leap_years_is_lacking() -> None:
    days = Period.parse("1999-01-01..2012-12-31").days
    assert [str(at) for at in days[lacking(days)]] == ["2000-12-31", "2004-12-31", "2008-12-31", "2012-12-31"]


@pytest.mark.parametrize(
    ("values", "filled"),
    [
        ([4, 2, np.nan, 7], [4, 2, 3, 7]),
        ([4, 2], [4, 2, 3]),
        ([4, 2, 9, 7], [4, 2, 9, 7]),
        ([np.nan, 2, np.nan, 7], [np.nan, 2, np.nan, 7]),
    ],
)
def test_it_is_the_mean_of_the_two_days_before(values: list[float], filled: list[float]) -> None:
    series = with_lacking_days(of_days("2012-12-29", values), day("2013-06-01"))
    np.testing.assert_array_equal(series.values, filled)
    is_filled = np.isnan([*values, np.nan][: len(filled)]) & ~np.isnan(filled)
    np.testing.assert_array_equal(series.flags == Flag.FILLED, is_filled)


def test_no_other_day_is_filled_nor_one_after_the_last() -> None:
    for first, last in (("2011-12-29", "2013-01-01"), ("2012-12-28", "2013-01-01"), ("2012-12-29", "2012-12-30")):
        series = of_days(first, [4, 2])
        assert len(with_lacking_days(series, day(last))) == 2


@pytest.mark.parametrize(
    ("first", "needed"),
    [
        ("2012-12-31", "2012-12-29"),
        ("2012-12-30", "2012-12-28"),
        ("2012-12-29", "2012-12-29"),
        ("2011-12-31", "2011-12-31"),
    ],
)
def test_the_days_before_are_asked_for_where_they_are_needed(first: str, needed: str) -> None:
    assert first_needed(day(first)) == day(needed)


def test_a_day_that_the_files_filled_is_marked_and_one_from_elsewhere_is_not() -> None:
    """The numbers are those of CAMELS, gauge 01031500, precipitation at the end of 1984."""
    assert with_lacking_days_marked(of_days("1984-12-29", [11.1, 0, 5.55])).flags.tolist() == [0, 0, Flag.FILLED]
    assert with_lacking_days_marked(of_days("1984-12-29", [11.1, 0, 5.5])).flags.tolist() == [0, 0, 0]
    assert with_lacking_days_marked(of_days("1985-12-29", [11.1, 0, 5.55])).flags.tolist() == [0, 0, 0]
