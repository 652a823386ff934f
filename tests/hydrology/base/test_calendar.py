from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import (
    Period,
    as_date,
    day,
    instant,
    last_ended_day,
    month,
    water_year,
    zone_of_longitude,
)
from hydrology.base.errors import InvalidInput

dates = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@given(dates)
def test_a_day_goes_to_a_date_and_back(one: date) -> None:
    assert as_date(day(one)) == one
    assert day(one.isoformat()) == day(one)


@pytest.mark.parametrize("text", ["", "1999-02-29", "1999-13-01", "01.10.1999", "yesterday"])
def test_text_that_is_not_a_day_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="YYYY-MM-DD"):
        day(text)


def test_a_period_holds_both_its_ends() -> None:
    period = Period.parse("1999-10-01..2000-09-30")
    assert len(period) == 366
    assert len(period.days) == 366
    assert (str(period.days[0]), str(period.days[-1])) == ("1999-10-01", "2000-09-30")
    assert str(period) == "1999-10-01..2000-09-30"


@pytest.mark.parametrize("text", ["1999-10-01", "1999-10-01..", "2000-01-01..1999-01-01", "a..b"])
def test_text_that_is_not_a_period_is_refused(text: str) -> None:
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


@pytest.mark.parametrize(
    ("instant", "zone", "ended"),
    [
        ("2026-11-22T04:59", "America/New_York", "2026-11-20"),
        ("2026-11-22T05:00", "America/New_York", "2026-11-21"),
        ("2026-03-09T03:59", "America/New_York", "2026-03-07"),  # a day of 23 hours
        ("2026-03-09T04:00", "America/New_York", "2026-03-08"),
        ("2026-11-02T04:59", "America/New_York", "2026-10-31"),  # one of 25
        ("2026-11-02T05:00", "America/New_York", "2026-11-01"),
        ("2026-11-22T11:00", "Pacific/Kiritimati", "2026-11-22"),
        ("2026-11-22T11:59", "Etc/GMT+12", "2026-11-20"),
    ],
)
def test_a_day_has_ended_at_midnight_of_its_own_time_zone(instant: str, zone: str, ended: str) -> None:
    assert last_ended_day(datetime.fromisoformat(instant).replace(tzinfo=UTC), zone) == day(ended)


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'Mars/Olympus' is not a time zone"):
        last_ended_day(datetime(2026, 11, 22, tzinfo=UTC), "Mars/Olympus")


@pytest.mark.parametrize(
    ("longitude", "zone"), [(-75.8, "Etc/GMT+5"), (0.0, "UTC"), (8.5, "Etc/GMT-1"), (-180, "Etc/GMT+12")]
)
def test_a_meridian_has_the_hours_of_the_sun(longitude: float, zone: str) -> None:
    assert zone_of_longitude(longitude) == zone
    last_ended_day(datetime(2026, 11, 22, tzinfo=UTC), zone)


def test_an_instant_has_an_offset() -> None:
    assert (
        instant("2008-04-21T06:00:00Z") == instant("2008-04-20T23:00:00-07:00") == datetime(2008, 4, 21, 6, tzinfo=UTC)
    )
    for text in ("2008-04-21T06:00:00", "2008-04-21", "now", "0001-01-01T00:00:00+14:00"):
        with pytest.raises(InvalidInput, match="is not an instant"):
            instant(text)
