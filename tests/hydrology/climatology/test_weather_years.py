from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day
from hydrology.climatology.normals import other_years

RECORD = Period.parse("1980-01-01..2008-12-31")


def years(ahead: str, record: Period = RECORD) -> dict[str, list[str]]:
    return {year: [str(at) for at in days] for year, days in other_years(Period.parse(ahead), record).items()}


def test_every_other_year_gives_the_same_days_and_t0s_own_is_left_out() -> None:
    by_year = years("2000-06-01..2000-06-03")
    assert list(by_year) == [str(year) for year in range(1980, 2009) if year != 2000]
    assert by_year["1987"] == ["1987-06-01", "1987-06-02", "1987-06-03"]


def test_a_29_february_is_left_out_where_the_days_ahead_have_none() -> None:
    assert years("2001-02-27..2001-03-01")["2000"] == ["2000-02-27", "2000-02-28", "2000-03-01"]


def test_a_year_without_a_29_february_goes_on_with_1_march() -> None:
    by_year = years("2000-02-28..2000-03-02")
    assert by_year["2001"] == ["2001-02-28", "2001-03-01", "2001-03-02", "2001-03-03"]
    assert by_year["2004"] == ["2004-02-28", "2004-02-29", "2004-03-01", "2004-03-02"]


def test_days_ahead_may_begin_on_a_29_february() -> None:
    by_year = years("2000-02-29..2000-03-01")
    assert by_year["2001"] == ["2001-03-01", "2001-03-02"]
    assert by_year["1996"] == ["1996-02-29", "1996-03-01"]


def test_a_winter_is_reported_by_the_year_that_it_begins_in() -> None:
    by_year = years("2000-12-30..2001-01-02")
    assert by_year["1999"] == ["1999-12-30", "1999-12-31", "2000-01-01", "2000-01-02"]
    assert "2000" not in by_year
    assert "2008" not in by_year, "the record does not hold it whole"


def test_after_the_last_day_of_a_year_its_own_days_are_still_left_out() -> None:
    assert "2001" not in years("2001-01-01..2001-01-10")


@given(st.dates(min_value=date(1982, 1, 1), max_value=date(2006, 12, 31)), st.integers(1, 366))
def test_days_follow_each_other_and_are_never_those_ahead(first: date, count: int) -> None:
    begin = day(first)
    ahead = Period(begin, begin + count - 1)
    by_year = other_years(ahead, RECORD)
    assert len(by_year) >= 24
    for days in by_year.values():
        assert len(days) == count
        steps = np.diff(days).astype(int)
        assert ((steps == 1) | ((steps == 2) & (np.char.endswith(days[:-1].astype(str), "02-28")))).all()
        assert not np.isin(days, ahead.days).any()


@pytest.mark.parametrize("record", ["2000-01-01..2000-12-31", "2000-06-02..2001-05-31"])
def test_a_record_that_holds_no_other_year_gives_none(record: str) -> None:
    assert years("2000-06-01..2000-06-10", Period.parse(record)) == {}
