"""Days (`numpy.datetime64[D]`), periods with their first and last day, and the age of data by the service's clock."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Integers
from hydrology.base.errors import InvalidInput, counted

Day = np.datetime64
Days = npt.NDArray[np.datetime64]


def day(text: str | date | np.datetime64) -> Day:
    """Convert `YYYY-MM-DD`, a date or a datetime64 to a day."""
    if isinstance(text, str):
        try:
            return np.datetime64(date.fromisoformat(text), "D")
        except ValueError as error:
            raise InvalidInput(f"{text[:64]!r} is not a day: write it as YYYY-MM-DD, e.g. 1999-10-01.") from error
    return text.astype("datetime64[D]") if isinstance(text, np.datetime64) else np.datetime64(text, "D")


def instant(text: str) -> datetime:
    """Parse an RFC 3339 instant with its offset, such as `2008-04-21T06:00:00Z`, to UTC."""
    try:
        parsed = datetime.fromisoformat(text)
        if parsed.tzinfo is not None:
            return parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(f"{text[:64]!r} is not an instant: write one with its offset, e.g. 2008-04-21T06:00:00Z.")


def as_date(value: Day) -> date:
    """Convert a day to a `datetime.date`."""
    result = value.astype("datetime64[D]").astype(object)
    assert isinstance(result, date)
    return result


def zone(name: str) -> ZoneInfo:
    """Return a time zone."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise InvalidInput(f"{name[:64]!r} is not a time zone: write one such as America/Denver or UTC.") from None


def zone_of_longitude(longitude: float) -> str:
    """Return the nautical time zone of a meridian (degrees east): on land it can be wrong by an hour or two."""
    hours = round(longitude / 15)
    return f"Etc/GMT{-hours:+d}" if hours else "UTC"  # the tz database counts these westwards


def begin_of(at: Day, time_zone: str) -> datetime:
    """Return the instant at which a day begins in a time zone."""
    return datetime.combine(as_date(at), time(), zone(time_zone))


def last_ended_day(now: datetime, time_zone: str) -> Day:
    """Return the last calendar day, of 23 to 25 hours, that has ended in a time zone at an instant with offset."""
    return day(now.astimezone(zone(time_zone)).date() - timedelta(days=1))


def last_ended_anywhere(now: datetime) -> Day:
    """Return the last calendar day that has ended somewhere on Earth."""
    return last_ended_day(now, "Etc/GMT-14")


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included."""

    first: Day
    last: Day

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a period, such as `1999-10-01..2008-09-30`."""
        first, separator, last = text.partition("..")
        if not separator:
            raise InvalidInput(f"{text[:64]!r} is not a period: write FIRST..LAST, e.g. 1999-10-01..2008-09-30.")
        period = cls(day(first.strip()), day(last.strip()))
        if period.last < period.first:
            raise InvalidInput(f"The period {text!r} ends before it begins: swap its days.")
        return period

    def __eq__(self, other: object) -> bool:
        """Compare as a bool, not as numpy's: the answer may be stored as JSON."""
        return isinstance(other, Period) and bool(self.first == other.first and self.last == other.last)

    def __hash__(self) -> int:
        return hash((self.first, self.last))

    def __len__(self) -> int:
        return days_between(self.first, self.last) + 1

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"

    @property
    def days(self) -> Days:
        """Every day of the period, in order."""
        return np.arange(self.first, self.last + np.timedelta64(1, "D"))

    def without(self, part: "Period | None") -> tuple["Period", ...]:
        """Return the remaining periods before and after a part."""
        if part is None or self.overlap(part) is None:
            return (self,)
        day = np.timedelta64(1, "D")
        before = () if part.first <= self.first else (Period(self.first, part.first - day),)
        after = () if part.last >= self.last else (Period(part.last + day, self.last),)
        return before + after

    def overlap(self, other: "Period") -> "Period | None":
        """Return the days in both periods, or None."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return Period(first, last) if first <= last else None


def same_day(days: npt.ArrayLike, years: npt.ArrayLike) -> Days:
    """Return the same day in other years, 1 March for a missing 29 February; datetime64[D] and [Y] broadcast."""
    of, into = np.asarray(days, "datetime64[D]"), np.asarray(years, "datetime64[Y]")
    months = of.astype("datetime64[M]")
    in_year = into.astype("datetime64[M]") + (months - of.astype("datetime64[Y]").astype("datetime64[M]"))
    return np.asarray(in_year.astype("datetime64[D]") + (of - months.astype("datetime64[D]")))


def water_year(days: Days) -> Integers:
    """Return the water year of each day (October to September), named by the year it ends in."""
    months = days.astype("datetime64[M]").astype(np.int64)
    return (months + 3) // 12 + 1970


def climatic_year(days: Days) -> Integers:
    """Return each day's climatic year, April to March (low flows stay whole), named by the year it begins in."""
    months = days.astype("datetime64[M]").astype(np.int64)
    return (months - 3) // 12 + 1970


def month(days: Days) -> Integers:
    """Return the month (1-12) of each day."""
    return days.astype("datetime64[M]").astype(np.int64) % 12 + 1


def day_of_year(days: Days) -> Integers:
    """Return the number of each day in its year, 1 for 1 January."""
    return np.asarray((days - days.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64) + 1)


def days_left(days: Days) -> Integers:
    """Return the number of days of the year after each day, 0 for 31 December."""
    following = (days.astype("datetime64[Y]") + np.timedelta64(1, "Y")).astype("datetime64[D]")
    return np.asarray((following - days).astype(np.int64) - 1)


def calendar_year(at: Day) -> int:
    """Return the calendar year of a day."""
    return int(at.astype("datetime64[Y]").astype(int)) + 1970


def days_between(first: Day, last: Day) -> int:
    """Return the number of days from the first to the second day."""
    return int((last - first).astype(int))


STALE_AFTER_DAYS = 3
"""A day's data arrive a day later at best; a weekend without data is reported."""
MAX_GAP_DAYS = 14
"""Days in a row whose missing weather is filled: an outage over holidays. After it, the water in the store rests on
weather that nobody observed for so long that a forecast from it is worth little more than the normal."""


def age_days(of: Day, at: datetime) -> int:
    """Return a day's age in days by the clock: 1 for yesterday, negative for a future day."""
    return (at.date() - as_date(of)).days


def stale_note(of: Day, age: int, product: str, observed_until: Day | None) -> str:
    """Return the warning about a T0 that nobody asked for and that is too old, by `age` days at the day of issue.

    `observed_until` is the last day of observed weather, where the days after T0 have it too; else None.
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
