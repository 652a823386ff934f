"""Reads a gauge's daily values by one rule for all sources.

A day without a usable value is NaN with a flag, and its neighbours are unaffected: a sentinel or a known code is
MISSING; a negative flow (a tide, or a fault) and an unknown code are MISSING and SUSPECT.
"""

import re
from collections.abc import Iterable

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.series import DailySeries, Flag, Flags

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
