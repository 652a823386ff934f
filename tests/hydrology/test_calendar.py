from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.calendar import Period, as_date, day, month, water_year
from hydrology.errors import InvalidInput

dates = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@given(dates)
def test_a_day_goes_to_a_date_and_back(one: date) -> None:
    assert as_date(day(one)) == one
    assert day(one.isoformat()) == day(one)


@pytest.mark.parametrize("text", ["", "1999-02-29", "1999-13-01", "01.10.1999", "yesterday"])
def test_what_is_not_a_day_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="YYYY-MM-DD"):
        day(text)


def test_a_period_holds_both_its_ends() -> None:
    period = Period.parse("1999-10-01..2000-09-30")
    assert len(period) == 366
    assert len(period.days) == 366
    assert (str(period.days[0]), str(period.days[-1])) == ("1999-10-01", "2000-09-30")
    assert str(period) == "1999-10-01..2000-09-30"


@pytest.mark.parametrize("text", ["1999-10-01", "1999-10-01..", "2000-01-01..1999-01-01", "a..b"])
def test_what_is_not_a_period_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        Period.parse(text)


@given(dates, dates, dates, dates)
def test_the_overlap_holds_exactly_the_shared_days(a: date, b: date, c: date, d: date) -> None:
    one, other = Period(day(min(a, b)), day(max(a, b))), Period(day(min(c, d)), day(max(c, d)))
    shared = np.intersect1d(one.days, other.days)
    overlap = one.overlap(other)
    assert overlap == other.overlap(one)
    assert np.array_equal(shared, overlap.days if overlap else [])


@given(dates)
def test_a_water_year_begins_in_october_and_is_named_by_its_end(one: date) -> None:
    expected = one.year + 1 if one.month >= 10 else one.year
    assert water_year(np.array([day(one)])).tolist() == [expected]
    assert month(np.array([day(one)])).tolist() == [one.month]
