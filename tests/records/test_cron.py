"""When a cron line fires next."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.cron import BadCron, next_run
from tests.records.factories import instant


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
def test_what_is_no_line_or_never_fires_is_refused(cron: str) -> None:
    with pytest.raises(BadCron, match=r"30 6 \* \* \*"):
        next_run(cron, "UTC", instant("2026-11-20T00:00"))


def test_a_long_text_is_not_repeated_whole() -> None:
    with pytest.raises(BadCron) as refusal:
        next_run(f"{'x' * 5000} * * * *", "UTC", instant("2026-11-20T00:00"))
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("zone", ["", "Denver", "America", "../UTC", "/etc/passwd", "\0", "a" * 5000])
def test_what_is_no_time_zone_is_refused(zone: str) -> None:
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
