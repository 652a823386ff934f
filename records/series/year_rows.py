"""Layout of a daily series in rows of calendar years."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Period, calendar_year, days_between
from hydrology.base.series import DailySeries, Flag

Mask = npt.NDArray[np.bool_]
VALUE = np.dtype("<f4")
OFFSET = np.dtype("<u2")


class YearRow(Protocol):
    """A stored year: the value (float32) and flag (uint8) of each of its days."""

    year: int
    value_bytes: bytes
    flag_bytes: bytes


def january(year: int) -> Day:
    """Return the first day of a calendar year."""
    return np.datetime64(f"{year:04}-01-01", "D")


def years_of(period: Period) -> range:
    """Return the calendar years that a period overlaps."""
    return range(calendar_year(period.first), calendar_year(period.last) + 1)


def calendar_years(first: int, last: int) -> Period:
    """Return the days of whole calendar years, both included."""
    return Period(january(first), january(last + 1) - np.timedelta64(1, "D"))


def joined(rows: Iterable[YearRow], span: Period, unit: str) -> DailySeries:
    """Join stored years into one series over whole calendar years. Unstored years are ABSENT."""
    values = np.full(len(span), np.nan, dtype=VALUE)
    flags = np.full(len(span), Flag.ABSENT, dtype=np.uint8)
    for row in rows:
        offset = days_between(span.first, january(row.year))
        values[offset : offset + len(row.flag_bytes)] = np.frombuffer(row.value_bytes, VALUE)
        flags[offset : offset + len(row.flag_bytes)] = np.frombuffer(row.flag_bytes, np.uint8)
    return DailySeries(span.first, values, flags, unit)


def years_with(span: Period, mask: Mask) -> Iterator[tuple[int, slice]]:
    """Yield each calendar year with a marked day, and its slice of the period."""
    for year in years_of(span):
        days = slice(days_between(span.first, january(year)), days_between(span.first, january(year + 1)))
        if mask[days].any():
            yield year, days


def known(series: DailySeries) -> Mask:
    """Return which days of a series are known: those not ABSENT."""
    return np.asarray(series.flags & Flag.ABSENT == 0)


def trimmed(series: DailySeries) -> DailySeries | None:
    """Return a series over its known days. None if no day is known."""
    days = series.days[known(series)]
    return series.over(Period(days[0], days[-1])) if len(days) else None
