"""A daily series: consecutive days, with a value and a flag per day.

A gauge's daily values are read by one rule for all sources. A day without a usable value is NaN with a flag, and its
neighbours are unaffected: a sentinel or a known code is MISSING; a negative flow (a tide, or a fault) and an unknown
code are MISSING and SUSPECT.

Days that a source's calendar lacks are filled. Daymet's years have 365 days, so leap years end on 30 December. The rule
is that of the Daymet files of CAMELS (Newman et al. 2015, doi:10.5194/hess-19-209-2015), in which 31 December of a leap
year is the mean of 29 and 30 December in every column, also of precipitation, which is unknown for that day. The value
is FILLED, and every run that consumes it counts it (`filled_forcing`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Day, Days, Period, day_of_year, days_between

Values = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Flags = npt.NDArray[np.uint8]


class Flag(IntFlag):
    """Bits that qualify a day's value.

    A missing value is NaN, and its flag gives the reason. A gauge's value that is not APPROVED is provisional: its
    source may still revise it.
    """

    APPROVED = 1
    ESTIMATED = 2
    BELOW_LIMIT = 4
    MISSING = 8  # the source names the day and has no value for it
    ABSENT = 16  # the source does not list the day
    FILLED = 32
    SUSPECT = 64
    ICE = 128  # the river was frozen: the value is an estimate, or there is none


@dataclass(frozen=True, slots=True)
class DailySeries:
    """Values of consecutive days, NaN where missing, with a `Flag` mask each.

    The unit is as stored: `cfs`, `mm/day`, `degC`, `W/m2`, `Pa`, `s`, `mm`.
    """

    start: Day
    values: Values
    flags: Flags
    unit: str

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.flags.shape:
            raise ValueError("values and flags must be one-dimensional and of one length")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def period(self) -> Period:
        return Period(self.start, self.start + np.timedelta64(len(self.values) - 1, "D"))

    @property
    def days(self) -> Days:
        return self.period.days

    def over(self, period: Period) -> "DailySeries":
        """Return the series over a period: days outside it are dropped, days it lacks are NaN and ABSENT."""
        values = np.full(len(period), np.nan, dtype=self.values.dtype)
        flags = np.full(len(period), Flag.ABSENT, dtype=np.uint8)
        shared = self.period.overlap(period)
        if shared is not None:
            source, target = (
                slice(days_between(first, shared.first), days_between(first, shared.last) + 1)
                for first in (self.start, period.first)
            )
            values[target], flags[target] = self.values[source], self.flags[source]
        return DailySeries(period.first, values, flags, self.unit)


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number in text. Python's own float() accepts more: 1_000, infinity, the digits of other scripts."""

SENTINELS = (-999.0, -9_999.0, -99_999.0, -999_999.0)
"""Numbers that stand for no value."""

UNKNOWN_CODE = np.inf
"""Represents an unknown code among numbers."""

_NO_VALUE = frozenset(("", "nan", "null", "none", "na", "n/a"))
# Of USGS: help.waterdata.usgs.gov/codes-and-parameters, as written in place of a value or beside it.
_CODES = frozenset(
    ("ICE", "EQP", "BKW", "DIS", "DRY", "FLD", "MNT", "PR", "RAT", "SSN", "ZFL", "TST", "***", "--", "-")
)
_QUALIFIERS = {
    "ICE": Flag.ICE | Flag.ESTIMATED,
    "ESTIMATED": Flag.ESTIMATED,
    "E": Flag.ESTIMATED,
    "LESSTHAN": Flag.BELOW_LIMIT,
    "<": Flag.BELOW_LIMIT,
    "APPROVED": Flag.APPROVED,
    "A": Flag.APPROVED,
    "M": Flag.MISSING,  # of CAMELS
}
# Qualifiers without a flag of ours: provisional, revised, above a limit, computed or protected.
_SILENT = _CODES | {
    *("P", "PROVISIONAL", "R", "REVISED", "1", "2", "&", ">", "GREATERTHAN", "EQUIP", "BACKWATER", "DISCONTINUED"),
    *("FLOOD", "FORCEINTERPOLATION", "MAINTENANCE", "ZEROFLOW", "SEASONAL", "TIDAL"),
}


def number_of(text: str) -> float:
    """Parse a value: NaN for none or a known code, `UNKNOWN_CODE` without digits; `1,250` raises ValueError."""
    text = text.strip()
    if NUMBER.fullmatch(text):
        value = float(text)
        if np.isfinite(value):
            return value
    elif not any(map(str.isdigit, text)):
        return np.nan if text.lower() in _NO_VALUE or text.upper() in _CODES else UNKNOWN_CODE
    raise ValueError("the value is not a number")


def qualifier_flags(words: Iterable[str]) -> Flag:
    """Return the flags of a value's qualifiers (`A`, `e`, `ICE`). An unknown one makes the value SUSPECT."""
    flags = Flag(0)
    for word in map(str.upper, words):
        flags |= _QUALIFIERS.get(word, Flag(0) if word in _SILENT else Flag.SUSPECT)
    return flags


def screened(values: Array, flags: Flags | None = None) -> tuple[Array, Flags]:
    """Return daily discharge (any unit) with its flags: NaN where unusable, or flagged MISSING by its source."""
    given = np.zeros(values.shape, np.uint8) if flags is None else flags
    without = np.isnan(values) | np.isin(values, SENTINELS)
    withdrawn = ~without & (given & Flag.MISSING != 0)
    refused = ~without & ((values < 0) | ~np.isfinite(values) | withdrawn)
    lost = without | refused
    # A flag on a missing value (estimate, limit, doubt) has no meaning.
    stored = np.where(lost, given & ~np.uint8(Flag.ESTIMATED | Flag.BELOW_LIMIT | Flag.SUSPECT) | Flag.MISSING, given)
    return np.where(lost, np.nan, values), np.where(refused, stored | Flag.SUSPECT, stored).astype(np.uint8)


def refused(series: DailySeries) -> str | None:
    """Describe the suspect days of discharge: number and first day by treatment; None without any."""
    suspect = series.flags & Flag.SUSPECT != 0
    gone = np.isnan(series.values)
    fates = {
        "not taken (negative, a code that is not known, or two that differ), so missing": suspect & gone,
        "marked suspect (a qualifier that is not known)": suspect & ~gone,
    }
    parts = [
        f"values {fate}: {int(days.sum())}, the first on {series.days[int(days.argmax())]}"
        for fate, days in fates.items()
        if days.any()
    ]
    return "; ".join(parts) or None


_ROUNDING = 0.0051  # of the files: two decimals
_TWO_DAYS = np.timedelta64(2, "D")


def lacking(days: Days) -> Mask:
    """Return which days a calendar of 365 days lacks: 31 December of leap years."""
    return np.asarray(day_of_year(days) == 366)


def first_needed(first: Day) -> Day:
    """Return the first day to request from a source, so that a missing first day can be filled."""
    at_beginning = lacking(np.arange(first, first + _TWO_DAYS))
    return first - _TWO_DAYS if at_beginning.any() else first


def with_lacking_days(series: DailySeries, last: Day) -> DailySeries:
    """Fill the days that a series' calendar lacks, until a last day, where both days before are known."""
    following = min(last, series.period.last + np.timedelta64(1, "D"))
    grown = series.over(Period(series.start, max(series.period.last, following)))
    values, flags = grown.values.copy(), grown.flags.copy()
    for at in _places(grown):
        if np.isnan(values[at]) and not np.isnan(mean := _before(values, at)):
            values[at], flags[at] = mean, Flag.FILLED
    filled = DailySeries(grown.start, values, flags, grown.unit)
    return filled if flags[-1] & Flag.ABSENT == 0 else filled.over(series.period)


def with_lacking_days_marked(series: DailySeries) -> DailySeries:
    """Flag as FILLED the days that a source filled for its calendar: the mean of the two days before."""
    flags = series.flags.copy()
    for at in _places(series):
        if abs(_before(series.values, at) - float(series.values[at])) <= _ROUNDING:
            flags[at] |= Flag.FILLED
    return replace(series, flags=flags)


def _places(series: DailySeries) -> list[int]:
    return [int(at) for at in np.flatnonzero(lacking(series.days)) if at >= 2]


def _before(values: npt.NDArray[np.floating], at: int) -> float:
    return float(values[at - 2] + values[at - 1]) / 2
