"""Rows of daily discharge, as gauges' services give them, as one series a basin."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from hydrology.calendar import Day, day
from hydrology.errors import InvalidInput, excerpt
from hydrology.series import DailySeries, Flag
from ingestion.feeds.base import FeedProblem, daily_series

CFS = "cfs"
PARAMETER, STATISTIC = "00060", "00003"  # of USGS: discharge, the mean of the day

_QUALIFIERS = {
    "ICE": Flag.ICE | Flag.ESTIMATED,
    "ESTIMATED": Flag.ESTIMATED,
    "E": Flag.ESTIMATED,
    "LESSTHAN": Flag.BELOW_LIMIT,
    "<": Flag.BELOW_LIMIT,
    "APPROVED": Flag.APPROVED,
    "A": Flag.APPROVED,
}


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A day of a gauge.

    Attributes:
        value: in cfs; None where there is none.
        flags: what its source says of it.
        modified: when its source last changed it.
    """

    day: Day
    value: float | None
    flags: Flag
    modified: datetime


def flow_row(
    basin: str, at: object, value: object, qualifiers: object, approval: object = None, modified: object = None
) -> FlowRow:
    """Read a row; qualifiers may be null, a text or a list of texts, and those that are not known say nothing here.

    Raises:
        FeedProblem: it has no day, or its value is neither a number nor null.
    """
    flags = Flag(0)
    for word in (*_words(qualifiers), *_words(approval)):
        flags |= _QUALIFIERS.get(word.upper(), Flag(0))
    number = _number(basin, value)
    if number is None:  # an estimate, or a limit, of nothing
        flags = flags & ~(Flag.ESTIMATED | Flag.BELOW_LIMIT) | Flag.MISSING
    return FlowRow(_day(basin, at), number, flags, _instant(modified))


def discharge(rows: Iterable[FlowRow], last: Day) -> DailySeries | None:
    """Return rows in any order as one series until a last day; of the rows of a day the one last modified counts.

    A negative discharge stays: where the tide comes in, it is real. Returns None where no row is left.
    """
    newest: dict[Day, FlowRow] = {}
    for row in rows:
        if row.day <= last and (row.day not in newest or newest[row.day].modified <= row.modified):
            newest[row.day] = row
    if not newest:
        return None
    rows = list(newest.values())
    days = np.array([row.day for row in rows])
    values = np.array([np.nan if row.value is None else row.value for row in rows])
    return daily_series(days, values, CFS, np.array([row.flags for row in rows], dtype=np.uint8))


def _words(text: object) -> list[str]:
    """Return the words of qualifiers: null, a text (also `A:e`, `P,e`) or a list of them."""
    if isinstance(text, list):
        return [word for part in text for word in _words(part)]
    return str(text).replace(":", " ").replace(",", " ").split() if isinstance(text, str) else []


def _number(basin: str, value: object) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, str | int | float) and "_" not in str(value) else np.nan
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise FeedProblem(f"A value of {excerpt(basin)} is no number: nothing of the basin was taken.")
    return number


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
