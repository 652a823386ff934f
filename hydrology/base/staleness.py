"""How old something is by the service's clock, and from when on it is stale."""

from datetime import datetime

from hydrology.base.calendar import Day, as_date

STALE_AFTER_DAYS = 3
"""A day's data come a day later at best; a weekend without them is told."""


def age_days(of: Day, at: datetime) -> int:
    """Return how many days a day lies before the clock's: 1 for yesterday, negative for a day that is to come."""
    return (at.date() - as_date(of)).days


def stale_note(of: Day, age: int) -> str:
    """Return the warning about a T0 that nobody asked for and that is too old."""
    return (
        f"T0 is {of}, {age} days before the day of issue: the newest that the data allow, and more than "
        f"{STALE_AFTER_DAYS} days old. Fetch or ingest newer data, or name the day (--t0, `t0`) for one of the past."
    )


def stale(age: int) -> bool:
    """Whether something of that age is too old to go unremarked."""
    return age > STALE_AFTER_DAYS
