"""The climatology of flow is what other water years had at the same time of the year."""

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day, water_year
from hydrology.climatology.normals import FlowClimatology

LEVELS = (0.0, 0.5, 1.0)
DAYS = Period.parse("2000-10-01..2004-09-30").days


def quantiles(observed: np.ndarray[tuple[int], np.dtype[np.float64]], at: str) -> list[float] | str:
    of_days = FlowClimatology(DAYS, observed, LEVELS).quantiles(np.array([day(at)]))
    return str(of_days) if isinstance(of_days, Absent) else of_days[0].tolist()


def test_the_days_own_water_year_is_left_out() -> None:
    observed = water_year(DAYS).astype(float)
    assert quantiles(observed, "2002-03-15") == [2001.0, 2003.0, 2004.0]
    assert quantiles(observed, "2002-10-01")[1:] == [2002.0, 2004.0]


def test_a_week_before_and_after_belong_to_it_across_the_new_year() -> None:
    observed = np.full(len(DAYS), np.nan)
    for at, flow in {"2000-12-25": 1.0, "2001-01-02": 2.0, "2001-01-10": 9.0}.items():
        observed[day(at) == DAYS] = flow
    assert quantiles(observed, "2003-01-01") == [1.0, 1.5, 2.0]


def test_a_time_of_the_year_that_no_other_year_has_observed_is_reported() -> None:
    observed = np.where(water_year(DAYS) == 2002, 1.0, np.nan)
    assert quantiles(observed, "2003-06-01") == [1.0, 1.0, 1.0]
    assert "of the time of the year of 2002-06-01." in quantiles(observed, "2002-06-01")


def test_the_days_around_it_are_left_out_across_the_turn_of_the_water_year() -> None:
    observed = water_year(DAYS).astype(float)
    observed[day("2002-10-03") == DAYS] = 9999.0
    observed[day("2002-09-27") == DAYS] = 9999.0
    assert quantiles(observed, "2002-09-29")[2] == 2004.0
    assert quantiles(observed, "2002-10-01")[2] == 2004.0
    assert quantiles(observed, "2001-09-29")[2] == 9999.0


def test_the_week_is_as_long_across_the_end_of_a_leap_year() -> None:
    for leap_day, near in (("2000-12-25", True), ("2000-12-24", False)):
        observed = np.full(len(DAYS), np.nan)
        observed[day(leap_day) == DAYS] = 5.0
        assert (quantiles(observed, "2003-01-01") == [5.0] * 3) == near
    observed = np.full(len(DAYS), np.nan)
    observed[day("2003-01-07") == DAYS] = 5.0
    assert quantiles(observed, "2000-12-31") == [5.0] * 3
