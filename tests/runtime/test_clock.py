"""One clock: now, or the instant an archive is replayed at."""

from datetime import UTC, datetime, timedelta, timezone

from runtime.clock import Clock


def test_without_as_of_the_clock_is_the_wall() -> None:
    clock = Clock()
    before = datetime.now(UTC)
    assert before <= clock.now() <= clock.wall() <= datetime.now(UTC)


def test_as_of_stands_still_in_utc_while_the_wall_goes_on() -> None:
    clock = Clock(datetime(2008, 10, 1, 6, tzinfo=timezone(timedelta(hours=-5))))
    assert clock.now() == datetime(2008, 10, 1, 11, tzinfo=UTC)
    assert clock.now().tzinfo is UTC
    assert clock.wall() > datetime(2020, 1, 1, tzinfo=UTC)
