"""Cron: when a schedule fires next."""

from datetime import UTC, datetime

from croniter import CroniterError, croniter

from hydrology.calendar import zone
from hydrology.errors import InvalidInput, excerpt


class BadCron(InvalidInput):
    """The cron line or the time zone cannot be read."""

    kind = "bad-cron"


def next_run(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first instant after another at which a cron line fires, in UTC.

    Args:
        cron: minute, hour, day of the month, month, day of the week.
        timezone: a name of the tz database, whose clock the line is read by.
        after: that other instant.

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
        following = croniter(cron, after.astimezone(there)).get_next(datetime)
    except CroniterError as error:
        raise BadCron(
            f"{cron[:64]!r} is not a cron line ({excerpt(error)}): write minute, hour, day, month, weekday, such as "
            "30 6 * * *."
        ) from error
    assert isinstance(following, datetime)
    return following.astimezone(UTC)
