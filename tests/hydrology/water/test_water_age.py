"""Water age: discharge by the season in which its water fell."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day, month
from hydrology.verification.results import SEASONS as MONTHS_OF
from hydrology.water.storage import MIN_DAYS, OLDER, YET_TO_FALL, Ages


@pytest.mark.parametrize(
    ("t0", "names", "begin"),
    [
        ("2008-04-20", ["2007-MAM", "2007-JJA", "2007-SON", "2008-DJF", "2008-MAM"], "2007-03-01"),
        ("2007-12-01", ["2007-DJF", "2007-MAM", "2007-JJA", "2007-SON", "2008-DJF"], "2006-12-01"),
        ("2008-02-29", ["2007-DJF", "2007-MAM", "2007-JJA", "2007-SON", "2008-DJF"], "2006-12-01"),
        ("1969-11-30", ["1968-SON", "1969-DJF", "1969-MAM", "1969-JJA", "1969-SON"], "1968-09-01"),
    ],
)
def test_the_season_of_t0_and_the_four_before_it_are_reported(t0: str, names: list[str], begin: str) -> None:
    ages = Ages(day(t0))
    assert ages.names == (OLDER, *names, YET_TO_FALL)
    assert ages.begin == day(begin)


@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2050, 12, 31)))
def test_every_day_is_of_one_age_and_ages_follow_each_other(t0: date) -> None:
    ages = Ages(day(t0))
    days = Period(day(t0) - 900, day(t0) + 30).days
    places = ages.of(days)
    assert (np.diff(places) >= 0).all()
    assert set(places) == set(range(len(ages.names)))
    assert (places[days > ages.t0] == len(ages.names) - 1).all()
    assert (places[days < ages.begin] == 0).all()
    assert ages.t0 - ages.begin >= np.timedelta64(MIN_DAYS, "D")
    for place, (first, last) in enumerate(ages.ends):
        assert days[places == place][0] == (days[0] if first is None else first)
        assert days[places == place][-1] == (days[-1] if last is None else last)
    for place, name in enumerate(ages.names[1:-1], 1):
        of_season = days[places == place]
        assert set(month(of_season)) <= set(MONTHS_OF[name[-3:]])  # type: ignore[index]
        assert str(of_season[-1]).startswith(name[:4]) or str(of_season[-1])[5:7] == "12"
