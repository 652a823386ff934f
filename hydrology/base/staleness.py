"""The age of data by the service's clock, and when they are stale."""

from datetime import datetime

from hydrology.base.calendar import Day, as_date
from hydrology.base.errors import counted

STALE_AFTER_DAYS = 3
"""A day's data arrive a day later at best; a weekend without data is reported."""
MAX_GAP_DAYS = 14
"""Days in a row whose missing weather is filled: an outage over holidays. After it, the water in the store rests on
weather that nobody observed for so long that a forecast from it is worth little more than the normal."""


def age_days(of: Day, at: datetime) -> int:
    """Return a day's age in days by the clock: 1 for yesterday, negative for a future day."""
    return (at.date() - as_date(of)).days


def stale_note(of: Day, age: int, product: str, observed_until: Day | None) -> str:
    """Return the warning about a T0 that nobody asked for and that is too old.

    Args:
        age: days from T0 to the day of issue.
        observed_until: the last day of observed weather, where the days after T0 have it too; else None.
    """
    start = f"T0 is {of}, {counted(age, 'day')} before the day of issue: "
    fetch = f"Fetch newer days of {product} (freshet feeds) or ingest them"
    past = "or name a day of the past (--t0, `t0`)."
    if observed_until is None:
        return f"{start}the newest that {product} allows, and more than {STALE_AFTER_DAYS} days old. {fetch}, {past}"
    return (
        f"{start}the archive of {product} ends on {observed_until}, and every day after T0 is to have observed "
        f"weather. {fetch}, take other weather after T0 (--weather supplied or climatology), {past}"
    )


def stale(age: int) -> bool:
    """Return whether data of that age are stale."""
    return age > STALE_AFTER_DAYS
