"""Writes daily series: adds new days, logs and replaces different ones, and leaves equal ones alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.errors import DataProblem, counted
from hydrology.base.series import DailySeries, Flag
from records.basins import basins
from records.database.checksums import is_whole, with_checksum
from records.database.stored import add_all, grouped
from records.series.year_rows import (
    ARRIVALS,
    OFFSET,
    REVISIONS,
    SERIES,
    VALUE,
    DamagedSeries,
    Mask,
    arrived,
    calendar_years,
    joined,
    known,
    years_of,
    years_with,
)

_KEY = (SERIES.c.basin_id, SERIES.c.product, SERIES.c.variable)


class UnitConflict(DataProblem):
    """The series is stored in another unit."""


class UnusableValues(DataProblem):
    """A value that is neither a number nor flagged as missing."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write.

    A changed day is a known one whose value or flag was replaced (and logged, unless it was damaged).
    """

    new_days: int = 0
    changed_days: int = 0
    first_new: Day | None = None
    first_changed: Day | None = None


@dataclass(frozen=True, slots=True)
class NewSeries:
    """A series to write, and the source that it was read from."""

    basin: str
    product: str
    variable: str
    series: DailySeries
    source_id: int

    @property
    def key(self) -> tuple[str, str, str]:
        return self.basin, self.product, self.variable

    @property
    def columns(self) -> dict[str, str]:
        """The columns that identify its rows."""
        return {"basin_id": self.basin, "product": self.product, "variable": self.variable}


def write(
    session: Session, basin: str, product: str, variable: str, series: DailySeries, source_id: int, at: datetime
) -> Written:
    """Merge a series into the stored one, as `write_all` does."""
    return write_all(session, [NewSeries(basin, product, variable, series, source_id)], at)[0]


def write_all(session: Session, new: Sequence[NewSeries], at: datetime) -> list[Written]:
    """Merge series into the stored ones: new days are added, known days replaced, ABSENT days ignored.

    Writing the same series again changes nothing. New days are recorded as arrived at `at`, replaced ones as replaced
    at `at`. A damaged year is replaced if the series contains all days that it had; else DamagedSeries is raised.

    Raises:
        ValueError: two of them are of one basin, product and variable.
    """
    if len({one.key for one in new}) < len(new):
        raise ValueError("series written together must each be of another basin, product or variable")
    basins.lock(session, *{one.basin for one in new})
    for one in new:
        _check_values(one)
    given = [one for one in new if known(one.series).any()]
    rows = _stored_years(session, given)
    merges = {one.key: _merge(session, one, rows[one.key]) for one in given}
    differing = [merge for merge in merges.values() if merge.written.any()]
    add_all(session, REVISIONS, [row for merge in differing for row in _replaced(merge, at)])
    _store(session, differing, at)
    add_all(session, ARRIVALS, [row for merge in differing for row in _arrivals(merge, at)])
    return [merges[one.key].count() if one.key in merges else Written() for one in new]


@dataclass(frozen=True, slots=True)
class _Merge:
    """A series beside the stored one, over whole calendar years.

    `new`, `changed` and `lost` days were not known before, differ, and are of damaged years; `readable` rows are not
    damaged.
    """

    given: NewSeries
    rows: Sequence[Row[Any]]
    readable: Sequence[Row[Any]]
    old: DailySeries
    incoming: DailySeries
    new: Mask
    changed: Mask
    lost: Mask

    @property
    def written(self) -> Mask:
        return self.new | self.changed

    @property
    def merged(self) -> DailySeries:
        written, old, incoming = self.written, self.old, self.incoming
        values = np.where(written, incoming.values.astype(VALUE), old.values)
        return DailySeries(old.start, values, np.where(written, incoming.flags, old.flags), incoming.unit)

    def count(self) -> Written:
        new_days, changed_days = (int(mask.sum()) for mask in (self.new, self.changed))
        span = self.old.period
        return Written(new_days, changed_days, _first(span, self.new), _first(span, self.changed))


def _merge(session: Session, given: NewSeries, rows: Sequence[Row[Any]]) -> _Merge:
    series = given.series
    by_state = grouped((is_whole(SERIES, row), row) for row in rows)
    readable, damaged_rows = by_state.get(True, []), by_state.get(False, [])
    if other := next((row.unit for row in readable if row.unit != series.unit), None):
        raise UnitConflict(
            f"{given.variable} of {given.basin} is stored in {other}, the new values are in {series.unit}: "
            "convert them before they are written."
        )
    years = years_of(series.period)
    span = calendar_years(years[0], years[-1])
    old, incoming = joined(readable, span, series.unit), series.over(span)
    lost = _lost(session, given.columns, damaged_rows, incoming)
    new = known(incoming) & ~known(old) & ~lost
    changed = lost | (known(incoming) & known(old) & _differs(old, incoming))
    return _Merge(given, rows, readable, old, incoming, new=new, changed=changed, lost=lost)


def _stored_years(session: Session, new: Sequence[NewSeries]) -> dict[tuple[str, str, str], list[Row[Any]]]:
    years = {one.key: years_of(one.series.period) for one in new}
    found: dict[tuple[str, str, str], list[Row[Any]]] = {key: [] for key in years}
    if not new:
        return found
    of_any = (column.in_({*given}) for column, given in zip(_KEY, zip(*years, strict=True), strict=True))
    first, last = min(of_one[0] for of_one in years.values()), max(of_one[-1] for of_one in years.values())
    query = select(SERIES).where(*of_any, SERIES.c.year.between(first, last)).order_by(SERIES.c.year)
    for row in session.execute(query):
        key = row.basin_id, row.product, row.variable
        if row.year in years.get(key, ()):
            found[key].append(row)
    return found


def _lost(session: Session, key: Mapping[str, str], rows: Sequence[Row[Any]], incoming: DailySeries) -> Mask:
    lost = np.zeros(len(incoming), dtype=np.bool_)
    for row in rows:
        year = calendar_years(row.year, row.year)
        first = days_between(incoming.start, year.first)
        days = slice(first, first + len(year))
        lost[days] = arrived(session, key, year)
        if (lost & ~known(incoming))[days].any():
            raise DamagedSeries(row.basin_id, row.product, row.variable, row.year)
    return lost


def _differs(old: DailySeries, new: DailySeries) -> Mask:
    before, after = old.values.astype(VALUE), new.values.astype(VALUE)
    bits = before.view("<u4") != after.view("<u4")
    return np.asarray((bits & ~(np.isnan(before) & np.isnan(after))) | (old.flags != new.flags))


def _store(session: Session, merges: Sequence[_Merge], at: datetime) -> None:
    added, replaced = [], []
    for merge in merges:
        revisions, merged = {row.year: row.revision for row in merge.rows}, merge.merged
        for year, days in years_with(merged.period, merge.written):
            content = {
                "value_bytes": merged.values[days].tobytes(),
                "flag_bytes": merged.flags[days].tobytes(),
                "unit": merged.unit,
                "revision": revisions.get(year, 0) + 1,
                "source_id": merge.given.source_id,
                "updated_at": at,
                "unknown_days": int(np.isnan(merged.values[days]).sum()),
            }
            key = {**merge.given.columns, "year": year}
            if year in revisions:
                of_row = {f"replaced_{name}": value for name, value in key.items()}
                checksum = with_checksum(SERIES, key | content)["checksum"]
                replaced.append({**of_row, **content, "checksum": checksum})
            else:
                added.append(key | content)
    add_all(session, SERIES, added)
    if replaced:
        same_row = (column == bindparam(f"replaced_{column.name}") for column in (*_KEY, SERIES.c.year))
        session.execute(SERIES.update().where(*same_row), replaced)


def _replaced(merge: _Merge, at: datetime) -> Iterator[dict[str, Any]]:
    stored = {row.year: row for row in merge.readable}
    for year, days in years_with(merge.old.period, merge.changed & ~merge.lost):
        row, where = stored[year], np.flatnonzero((merge.changed & ~merge.lost)[days])
        yield {
            **merge.given.columns,
            "year": year,
            "revision": row.revision,
            "offset_bytes": where.astype(OFFSET).tobytes(),
            "value_bytes": merge.old.values[days][where].tobytes(),
            "flag_bytes": merge.old.flags[days][where].tobytes(),
            "old_source_id": row.source_id,
            "new_source_id": merge.given.source_id,
            "replaced_at": at,
        }


def _arrivals(merge: _Merge, at: datetime) -> Iterator[dict[str, Any]]:
    # A range starts where the mask rises and ends before it falls.
    edges = np.flatnonzero(np.diff(merge.new.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    days = merge.old.days
    for first, end in edges:
        ends = {"first_day": days[first], "last_day": days[end - 1]}
        yield {**merge.given.columns, **ends, "arrived_at": at, "source_id": merge.given.source_id}


def _check_values(new: NewSeries) -> None:
    series = new.series
    with np.errstate(over="ignore"):
        values = series.values.astype(VALUE)
    unexplained = np.isnan(values) & (series.flags & (Flag.MISSING | Flag.ABSENT) == 0)
    faults = {"is missing with no flag for it": unexplained, "is too large a number": np.isinf(values)}
    for fault, days in faults.items():
        if days.any():
            raise UnusableValues(
                f"{new.variable} of {new.basin} {fault} on {_first(series.period, days)} "
                f"({counted(int(days.sum()), 'day')} in all): "
                "correct the source, or flag the day as missing."
            )


def _first(span: Period, mask: Mask) -> Day | None:
    return span.days[int(np.argmax(mask))] if mask.any() else None
