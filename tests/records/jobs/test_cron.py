"""When a cron line fires next."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.jobs.schedules import BadCron, next_run
from testing.records import instant


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 6 * * *", "UTC", "2026-11-20T06:29", "2026-11-20T06:30"),
        ("30 6 * * *", "UTC", "2026-11-20T06:30", "2026-11-21T06:30"),
        ("30 6 * * *", "America/Denver", "2026-11-20T00:00", "2026-11-20T13:30"),
        ("30 6 * * *", "America/Denver", "2026-07-20T00:00", "2026-07-20T12:30"),
        ("0 0 1 10 *", "UTC", "2026-11-20T00:00", "2027-10-01T00:00"),
    ],
)
def test_a_line_is_read_by_the_clock_of_its_zone(cron: str, zone: str, after: str, expected: str) -> None:
    assert next_run(cron, zone, instant(after)) == instant(expected)


@pytest.mark.parametrize(
    "cron", ["", "30 6 * *", "61 * * * *", "0 0 30 2 *", "@daily", "0 0 * * * 5", "0 0 * * * 5 2030", "every day"]
)
def test_a_cron_line_that_is_invalid_or_never_fires_is_refused(cron: str) -> None:
    with pytest.raises(BadCron, match=r"30 6 \* \* \*"):
        next_run(cron, "UTC", instant("2026-11-20T00:00"))


def test_a_long_text_is_not_repeated_whole() -> None:
    with pytest.raises(BadCron) as refusal:
        next_run(f"{'x' * 5000} * * * *", "UTC", instant("2026-11-20T00:00"))
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("zone", ["", "Denver", "America", "../UTC", "/etc/passwd", "\0", "a" * 5000])
def test_a_name_that_is_not_a_time_zone_is_refused(zone: str) -> None:
    with pytest.raises(BadCron, match="America/Denver"):
        next_run("30 6 * * *", zone, instant("2026-11-20T00:00"))


@given(cron=st.text("0123456789*/,-LW#? monfrijan", max_size=20), zone=st.text(max_size=10))
def test_any_text_is_a_line_or_refused(cron: str, zone: str) -> None:
    now = instant("2026-11-20T00:00")
    for at in ("UTC", zone):
        try:
            following = next_run(cron, at, now)
        except BadCron:
            continue
        assert isinstance(following, datetime)
        assert following > now


def firings(cron: str, zone: str, first: str, last: str) -> list[str]:
    """Return when a line fires after one instant until another, in UTC."""
    at, end, fired = instant(first), instant(last), list[str]()
    while (at := next_run(cron, zone, at)) <= end:
        fired.append(f"{at:%d %H:%M}")
    return fired


@pytest.mark.parametrize(
    ("cron", "zone", "first", "last", "expected"),
    [
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00", "2026-11-02T12:00", ["01 05:30", "02 06:30"]),
        ("20 2 * * *", "Europe/Paris", "2026-10-24T12:00", "2026-10-26T12:00", ["25 00:20", "26 01:20"]),
        ("0,30 1,2 1 11 *", "America/New_York", "2026-10-31T00:00", "2026-11-02T00:00", "5:00 5:30 7:00 7:30"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00", "2026-04-05T23:00", ["04 14:45", "05 15:15"]),
    ],
)
def test_a_time_that_comes_twice_fires_once_and_the_first_time(
    cron: str, zone: str, first: str, last: str, expected: list[str] | str
) -> None:
    if isinstance(expected, str):
        expected = [f"01 {time:>05}" for time in expected.split()]
    assert firings(cron, zone, first, last) == expected


@pytest.mark.parametrize(
    ("cron", "zone", "first", "last", "expected"),
    [
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-07T00:00",
            "2026-03-09T12:00",
            ["07 07:30", "08 07:00", "09 06:30"],
        ),
        ("*/15 2 8 3 *", "America/New_York", "2026-03-01T00:00", "2026-03-31T00:00", ["08 07:00"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", "2026-10-04T20:00", ["03 15:30", "04 15:15"]),
        ("30 0 * * *", "Africa/Cairo", "2026-04-23T00:00", "2026-04-24T23:00", ["23 22:00", "24 21:30"]),
    ],
)
def test_a_time_that_does_not_exist_fires_once_at_the_end_of_the_gap(
    cron: str, zone: str, first: str, last: str, expected: list[str]
) -> None:
    assert firings(cron, zone, first, last) == expected


def test_a_day_that_a_zone_skipped_fires_nothing() -> None:
    """Samoa went from 29 to 31 December 2011."""
    assert firings("30 6 * * *", "Pacific/Apia", "2011-12-28T20:00", "2011-12-31T20:00") == [
        "29 16:30",
        "30 16:30",
        "31 16:30",
    ]


@pytest.mark.parametrize("cron", ["0 * * * *", "0 0-23 * * *", "0 */1 * * *"])
@pytest.mark.parametrize("night", ["2026-11-01", "2026-03-08"])
def test_a_line_of_every_hour_fires_each_real_hour(cron: str, night: str) -> None:
    fired = firings(cron, "America/New_York", f"{night}T00:00", f"{night}T12:00")
    assert fired == [f"{night[-2:]} {hour:02}:00" for hour in range(1, 13)]


def test_a_line_of_every_half_hour_goes_on_where_the_clock_moves_by_half_an_hour() -> None:
    fired = firings("*/30 * * * *", "Australia/Lord_Howe", "2026-04-04T13:50", "2026-04-04T16:10")
    assert fired == ["04 14:00", "04 14:30", "04 15:00", "04 15:30", "04 16:00"]


ZONES = (
    *("UTC", "America/New_York", "America/Havana", "America/Santiago", "America/St_Johns", "Europe/Paris"),
    *("Europe/Dublin", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Kathmandu", "Australia/Lord_Howe"),
    *("Pacific/Apia", "Pacific/Chatham", "America/Denver", "Antarctica/Troll"),
)


@given(
    zone=st.sampled_from(ZONES),
    first=st.dates(date(2000, 1, 1), date(2035, 12, 1)),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_a_line_with_an_hour_of_its_own_fires_once_on_each_local_day(
    zone: str, first: date, hour: int, minute: int
) -> None:
    there = ZoneInfo(zone)
    at = datetime(first.year, first.month, first.day, tzinfo=there).astimezone(UTC) - timedelta(microseconds=1)
    fired = Counter[date]()
    for _ in range(40):
        at = next_run(f"{minute} {hour} * * *", zone, at)
        fired[at.astimezone(there).date()] += 1
    assert set(fired.values()) == {1}
    days = sorted(fired)
    skipped = [day for day, later in pairwise(days) if later - day != timedelta(days=1)]
    assert all((zone, day) == ("Pacific/Apia", date(2011, 12, 29)) for day in skipped)


@pytest.mark.extended
def test_every_night_of_every_zone_of_the_list_in_a_year_of_changes() -> None:
    """The property above over all nights on which a clock changed in 2026, where a random day seldom falls."""
    for zone in ZONES:
        there = ZoneInfo(zone)
        for hour in range(5):
            at = datetime(2025, 12, 31, 12, tzinfo=UTC)
            fired = []
            while (at := next_run(f"30 {hour} * * *", zone, at)) < datetime(2026, 12, 31, 12, tzinfo=UTC):
                fired.append(at.astimezone(there).date())
            assert len(fired) == len(set(fired)) == (fired[-1] - fired[0]).days + 1
