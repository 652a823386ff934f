"""How old something is by the service's clock, and from when on it is stale."""

from datetime import datetime

from hydrology.calendar import Day, as_date

STALE_AFTER_DAYS = 3
"""A day's data come a day later at best; a weekend without them is told."""


def age_days(of: Day, at: datetime) -> int:
    """Return how many days a day lies before the clock's: 1 for yesterday, negative for a day that is to come."""
    return (at.date() - as_date(of)).days


def stale(age: int) -> bool:
    """Whether something of that age is too old to go unremarked."""
    return age > STALE_AFTER_DAYS
