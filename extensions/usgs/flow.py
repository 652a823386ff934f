"""Converts rows of daily discharge from gauge services to one series per basin."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from hydrology.base.calendar import Day, day
from hydrology.base.errors import InvalidInput, excerpt
from hydrology.base.series import SENTINELS, UNKNOWN_CODE, DailySeries, Flag, number_of, qualifier_flags, screened
from ingestion.daily import daily_series
from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import NotANumber

CFS = "cfs"
PARAMETER, STATISTIC = "00060", "00003"  # of USGS: discharge, the mean of the day


@dataclass(frozen=True, slots=True)
class FlowRow:
    """One day of a gauge.

    `value` is in cfs; NaN where missing, infinite where an unknown code stands in its place.
    """

    day: Day
    value: float
    flags: Flag
    modified: datetime


def flow_row(
    basin: str, at: object, value: object, qualifiers: object, approval: object = None, modified: object = None
) -> FlowRow:
    """Parse a row; qualifiers may be null, a text or a list. A code in place of the value is a qualifier, too."""
    if any(isinstance(part, NotANumber) for part in (value, approval, modified, *_parts(qualifiers))):
        raise FeedProblem(
            f"The discharge of {excerpt(basin)} on {excerpt(str(at)[:10])} has a field that is not JSON (NaN or "
            "infinity): nothing of the basin was taken. Leave the day out of the period, or report it to the service."
        )
    number = _number(basin, at, value)
    words = [*_words(qualifiers), *_words(approval)]
    if isinstance(value, str) and not np.isfinite(number):
        words += _words(value.replace("_", " "))
    return FlowRow(_day(basin, at), number, qualifier_flags(words), _instant(modified))


def discharge(rows: Iterable[FlowRow], last: Day) -> DailySeries | None:
    """Join rows in any order into one series until a last day, screened; None where no row is left.

    Of several rows of a day, the one modified last counts. Where that leaves several, they are merged: with the flags
    of all, and the only value or the value they agree on. Two different values become missing and suspect.
    """
    by_day: dict[Day, FlowRow] = {}
    for row in rows:
        if row.day <= last:
            before = by_day.get(row.day)
            if before is None or before.modified < row.modified:
                by_day[row.day] = row
            elif before.modified == row.modified:
                by_day[row.day] = _united(before, row)
    if not by_day:
        return None
    days = np.array(list(by_day))
    result = np.array([row.value for row in by_day.values()])
    values, flags = screened(result, np.array([row.flags for row in by_day.values()], dtype=np.uint8))
    return daily_series(days, values, CFS, flags)


def _united(one: FlowRow, other: FlowRow) -> FlowRow:
    numbers = {row.value for row in (one, other) if not np.isnan(row.value) and row.value not in SENTINELS}
    value = numbers.pop() if len(numbers) == 1 else UNKNOWN_CODE if numbers else np.nan
    return replace(one, value=value, flags=one.flags | other.flags)


def _parts(qualifiers: object) -> list[object]:
    return qualifiers if isinstance(qualifiers, list) else [qualifiers]


def _words(text: object) -> list[str]:
    """Split qualifiers into words. Null, a text (also `A:e`, `P,e`) or a list of them."""
    if isinstance(text, list):
        return [word for part in text for word in _words(part)]
    return str(text).replace(":", " ").replace(",", " ").split() if isinstance(text, str) else []


def _number(basin: str, at: object, value: object) -> float:
    if value is None:
        return np.nan
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return number_of(str(value))
    except ValueError:
        pass
    raise FeedProblem(
        f"The discharge of {excerpt(basin)} on {excerpt(str(at)[:10])} is not a number ({excerpt(str(value)[:20])}): "
        "nothing of the basin was taken. Leave the day out of the period, or report it to the service."
    )


def _day(basin: str, at: object) -> Day:
    try:
        return day(str(at)[:10])
    except InvalidInput:
        raise FeedProblem(f"A row of {excerpt(basin)} has no calendar day: nothing of the basin was taken.") from None


def _instant(text: object) -> datetime:
    try:
        instant = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return instant.replace(tzinfo=instant.tzinfo or UTC)
