"""The age of data by the service's clock, and when they are stale."""

from datetime import datetime

from hydrology.base.calendar import Day, as_date

STALE_AFTER_DAYS = 3
"""A day's data arrive a day later at best; a weekend without data is reported."""


def age_days(of: Day, at: datetime) -> int:
    """Return a day's age in days by the clock.

    1 for yesterday, negative for a future day."""
    return (at.date() - as_date(of)).days


def stale_note(of: Day, age: int) -> str:
    """Return the warning about a default T0 that is too old."""
    return (
        f"T0 is {of}, {age} days before the day of issue: the newest that the data allow, and more than "
        f"{STALE_AFTER_DAYS} days old. Fetch or ingest newer data, or name the day (--t0, `t0`) for one of the past."
    )


def stale(age: int) -> bool:
    """Return whether data of that age are stale."""
    return age > STALE_AFTER_DAYS
