"""Selects parameters and days of a table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from app.exports.table import Column, Table
from app.http.problems import refused

_OPEN = ("", "..")
Days = tuple[date | None, date | None]
"""The first and the last day; None where there is no bound."""


def days(text: str | None) -> Days:
    """Read `datetime`: a day, an instant, or an interval between two, each end of which may be open (`..`).

    Raises:
        InvalidRequest: it is none of them, or ends before it begins.
    """
    if text is None:
        return None, None
    first, *rest = ends = text.split("/")
    if len(ends) > 2 or (not rest and first in _OPEN):
        raise _unreadable(text)
    start, end = (None if part in _OPEN else _day(part) for part in (ends[0], ends[-1]))
    if start is not None and end is not None and end < start:
        raise refused("datetime", "the interval ends before it begins: swap its ends.")
    return start, end


def parameters(text: str | None, columns: Sequence[Column]) -> list[str]:
    """Read `parameter-name`: names with commas between; all where none is named.

    Raises:
        InvalidRequest: the collection has no such parameter.
    """
    names = [column.name for column in columns]
    chosen = names if text is None else [name.strip() for name in text.split(",")]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise refused("parameter-name", f"there is no {unknown[0]!r} here: choose from {', '.join(names)}.")
    return chosen


def narrowed(table: Table, names: Sequence[str], between: Days) -> Table:
    """Return a table limited to those days and columns, with the basin's own columns."""
    rows = inside(days_of(table), between)
    columns = [
        replace(column, values=[column.values[row] for row in rows])
        for column in table.columns
        if column.of_basin or column.name in ("time", *names)
    ]
    return replace(table, columns=columns)


def days_of(table: Table) -> Sequence[date]:
    """Return the day of each row of a table."""
    return next(column.values for column in table.columns if column.name == "time")


def inside(days: Sequence[date], between: Days) -> list[int]:
    """Return the positions of the days within bounds."""
    first, last = between[0] or date.min, between[1] or date.max
    return [row for row, day in enumerate(days) if first <= day <= last]


def _day(text: str) -> date:
    """Return a day, or that of an instant in UTC."""
    try:
        if "T" not in text:
            return date.fromisoformat(text)
        instant = datetime.fromisoformat(text)
        return (instant if instant.tzinfo is None else instant.astimezone(UTC)).date()
    except (ValueError, OverflowError):
        raise _unreadable(text) from None


def _unreadable(text: str) -> Exception:
    return refused("datetime", f"{text!r} is neither a day nor an interval: write 2008-04-21 or 2008-04-21/2008-04-30.")
