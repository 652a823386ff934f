"""Annual extremes: of which days they are, and which years count."""

import numpy as np
import pytest

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, climatic_year, water_year
from hydrology.extremes.annual import annual_maxima, annual_minima

WATER_YEARS = Period.parse("2000-10-01..2003-09-30")


def steady(period: Period, flow: float = 5.0) -> Array:
    return np.full(len(period), flow)


def at(period: Period, *days: str) -> list[int]:
    return [int((np.datetime64(day) - period.first).astype(int)) for day in days]


def test_water_years_and_climatic_years_begin_on_their_documented_days() -> None:
    days = np.array(["2001-03-31", "2001-04-01", "2001-09-30", "2001-10-01"], "datetime64[D]")
    assert water_year(days).tolist() == [2001, 2001, 2001, 2002]
    assert climatic_year(days).tolist() == [2000, 2001, 2001, 2001]


def test_the_highest_day_of_each_water_year() -> None:
    flow = steady(WATER_YEARS)
    flow[at(WATER_YEARS, "2001-09-30", "2001-10-01", "2003-01-15")] = 40, 60, 20
    maxima = annual_maxima(flow, WATER_YEARS.days)
    assert maxima.values.tolist() == [40, 60, 20]
    assert (maxima.period, maxima.left_out) == (WATER_YEARS, 0)


@pytest.mark.parametrize(("missing", "counts"), [(36, True), (37, False)])
def test_a_year_counts_with_a_tenth_of_its_days_missing_and_no_more(missing: int, counts: bool) -> None:
    flow = steady(WATER_YEARS)
    flow[at(WATER_YEARS, "2002-02-01")[0] :][:missing] = np.nan
    maxima = annual_maxima(flow, WATER_YEARS.days)
    assert (len(maxima), maxima.left_out) == ((3, 0) if counts else (2, 1))
    assert maxima.period == WATER_YEARS
    assert (np.datetime64("2002-02-01") in maxima.days) == counts


def test_years_that_the_record_holds_in_part_do_not_count() -> None:
    period = Period.parse("2000-12-15..2003-03-31")
    maxima = annual_maxima(steady(period), period.days)
    assert (len(maxima), maxima.left_out) == (1, 2)
    assert str(maxima.period) == "2001-10-01..2002-09-30"


def test_the_lowest_seven_days_lie_within_one_climatic_year() -> None:
    period = Period.parse("2000-04-01..2002-03-31")
    flow = steady(period)
    first, second = at(period, "2001-03-29", "2001-08-10")
    flow[first : first + 7] = 0.0  # three days of one year, four of the next
    flow[second : second + 7] = np.arange(7) / 10
    assert annual_minima(flow, period.days).values == pytest.approx([(4 * 5.0) / 7, 0.3])


def test_a_mean_of_seven_days_needs_seven_days() -> None:
    period = Period.parse("2000-04-01..2001-03-31")
    flow = steady(period)
    flow[100:107] = 0.0, 0.0, 0.0, np.nan, 0.0, 0.0, 0.0
    assert annual_minima(flow, period.days).values == pytest.approx([2 / 7 * 5 * 2])


def test_an_empty_record_has_no_years() -> None:
    for annual in (annual_maxima([], WATER_YEARS.days[:0]), annual_minima([], WATER_YEARS.days[:0])):
        assert (len(annual), annual.period, annual.left_out) == (0, None, 0)
    nothing = annual_maxima(np.full(len(WATER_YEARS), np.nan), WATER_YEARS.days)
    assert (len(nothing), nothing.period, nothing.left_out) == (0, None, 3)
