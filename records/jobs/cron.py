"""Cron: the next firing of a schedule."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

from hydrology.base.calendar import zone
from hydrology.base.errors import InvalidInput, excerpt

_HOUR = 1  # the place of the hour among the fields of a line
_SECOND = timedelta(seconds=1)
_ONE_DAY = timedelta(days=1)


class BadCron(InvalidInput):
    """The cron line or the time zone cannot be read."""

    kind = "bad-cron"


def next_run(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first instant after another at which a cron line fires, in UTC.

    A line with hours of its own (`30 1 * * *`) fires once for each local time that it names: at the first occurrence if
    the clock goes back, at the end of the gap if the clock skips the time. A line for every hour (`0 * * * *`) fires
    whenever the clock shows its minutes, also in the repeated hour.

    Raises:
        BadCron: the line or the time zone cannot be read, or the line never fires.
    """
    try:
        there = zone(timezone)
    except InvalidInput as error:
        raise BadCron(str(error)) from error
    try:
        if len(cron.split()) != 5:
            raise CroniterError("it has not five fields")
        hours = croniter(cron).expanded[_HOUR]
        following = _every_hour if hours == ["*"] or len(hours) == 24 else _by_clock
        return following(cron, there, after.astimezone(UTC))
    except (CroniterError, OverflowError) as error:
        raise BadCron(
            f"{cron[:64]!r} is not a cron line ({excerpt(error)}): write minute, hour, day, month, weekday, such as "
            "30 6 * * *."
        ) from error


def _by_clock(cron: str, there: ZoneInfo, after: datetime) -> datetime:
    """Return the next firing of a line that names hours: once for each clock time."""
    at = _shown(after, there)
    while True:
        at = _next(cron, at)
        fires = _first_instant(at, there)
        if fires is not None and fires > after:
            return fires


def _first_instant(at: datetime, there: ZoneInfo) -> datetime | None:
    """Return the first instant of a clock's time; None in a skipped day."""
    first, second = (at.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1))
    if _shown(first, there) == at:
        return first
    end = _change(there, second, first)
    day = at.replace(hour=0, minute=0)
    whole = _shown(end - _SECOND, there) < day and _shown(end, there) >= day + _ONE_DAY
    return None if whole else end


def _every_hour(cron: str, there: ZoneInfo, after: datetime) -> datetime:
    """Return the next firing of a line for every hour: by the clock's minutes, in repeated and skipped hours too."""
    while True:
        offset = _offset(after, there)
        fires = (_next(cron, _shown(after, there)) - offset).replace(tzinfo=UTC)
        until = min(fires, after + _ONE_DAY)
        if _offset(until, there) != offset:
            after = _change(there, after, until) - timedelta(microseconds=1)
            offset = _offset(after + _SECOND, there)
            fires = (_next(cron, (after + offset).replace(tzinfo=None)) - offset).replace(tzinfo=UTC)
            until = min(fires, after + _ONE_DAY)
        if until == fires:
            return fires
        after = until


def _change(there: ZoneInfo, before: datetime, after: datetime) -> datetime:
    final = _offset(after, there)
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        before, after = (before, middle) if _offset(middle, there) == final else (middle, after)
    return after


def _next(cron: str, at: datetime) -> datetime:
    following = croniter(cron, at).get_next(datetime)
    assert isinstance(following, datetime)
    return following


def _shown(instant: datetime, there: ZoneInfo) -> datetime:
    return instant.astimezone(there).replace(tzinfo=None)


def _offset(instant: datetime, there: ZoneInfo) -> timedelta:
    offset = instant.astimezone(there).utcoffset()
    assert offset is not None
    return offset
