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
from records.database.stored import add_all
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


def write(
    session: Session, basin: str, product: str, variable: str, series: DailySeries, source_id: int, at: datetime
) -> Written:
    """Merge a series into the stored one, as `write_all` does."""
    return write_all(session, basin, product, {variable: series}, source_id, at)[variable]


def write_all(
    session: Session, basin: str, product: str, series: Mapping[str, DailySeries], source_id: int, at: datetime
) -> dict[str, Written]:
    """Merge series by variable into the stored ones: new days are added, known days replaced, ABSENT days ignored.

    Writing the same series again changes nothing. New days are recorded as arrived at `at`, replaced ones as replaced
    at `at`. A damaged year is replaced if the series contains all days that it had; else DamagedSeries is raised.
    """
    basins.lock(session, basin)
    for variable, one in series.items():
        _check_values(basin, variable, one)
    given = {variable: one for variable, one in series.items() if known(one).any()}
    rows = _stored_years(session, basin, product, given)
    merges = {
        variable: _merge(session, {"basin_id": basin, "product": product, "variable": variable}, rows[variable], one)
        for variable, one in given.items()
    }
    differing = [merge for merge in merges.values() if merge.written.any()]
    add_all(session, REVISIONS, [row for merge in differing for row in _replaced(merge, source_id, at)])
    _store(session, differing, {"source_id": source_id, "updated_at": at})
    add_all(session, ARRIVALS, [row for merge in differing for row in _arrivals(merge, source_id, at)])
    return {variable: merges[variable].count() if variable in merges else Written() for variable in series}


@dataclass(frozen=True, slots=True)
class _Merge:
    """A series beside the stored one, over whole calendar years.

    `new`, `changed` and `lost` days were not known before, differ, and are of damaged years; `readable` rows are not
    damaged.
    """

    key: Mapping[str, str]
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


def _merge(session: Session, key: Mapping[str, str], rows: Sequence[Row[Any]], series: DailySeries) -> _Merge:
    readable = [row for row in rows if is_whole(SERIES, row)]
    damaged_rows = [row for row in rows if not is_whole(SERIES, row)]
    if other := next((row.unit for row in readable if row.unit != series.unit), None):
        raise UnitConflict(
            f"{key['variable']} of {key['basin_id']} is stored in {other}, the new values are in {series.unit}: "
            "convert them before they are written."
        )
    years = years_of(series.period)
    span = calendar_years(years[0], years[-1])
    old, incoming = joined(readable, span, series.unit), series.over(span)
    lost = _lost(session, key, damaged_rows, incoming)
    new = known(incoming) & ~known(old) & ~lost
    changed = lost | (known(incoming) & known(old) & _differs(old, incoming))
    return _Merge(key, rows, readable, old, incoming, new=new, changed=changed, lost=lost)


def _stored_years(
    session: Session, basin: str, product: str, series: Mapping[str, DailySeries]
) -> dict[str, list[Row[Any]]]:
    found: dict[str, list[Row[Any]]] = {variable: [] for variable in series}
    if not series:
        return found
    of_series = {variable: years_of(one.period) for variable, one in series.items()}
    first, last = min(years[0] for years in of_series.values()), max(years[-1] for years in of_series.values())
    query = (
        select(SERIES)
        .filter_by(basin_id=basin, product=product)
        .where(SERIES.c.variable.in_([*series]), SERIES.c.year.between(first, last))
        .order_by(SERIES.c.year)
    )
    for row in session.execute(query):
        if row.year in of_series[row.variable]:
            found[row.variable].append(row)
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


def _store(session: Session, merges: Sequence[_Merge], stamp: Mapping[str, Any]) -> None:
    added, replaced = [], []
    for merge in merges:
        revisions, merged = {row.year: row.revision for row in merge.rows}, merge.merged
        for year, days in years_with(merged.period, merge.written):
            content = {
                "value_bytes": merged.values[days].tobytes(),
                "flag_bytes": merged.flags[days].tobytes(),
                "unit": merged.unit,
                "revision": revisions.get(year, 0) + 1,
                **stamp,
            }
            if year in revisions:
                summed = with_checksum(SERIES, {**merge.key, "year": year, **content})
                of_row = {"replaced_variable": merge.key["variable"], "replaced_year": year}
                replaced.append({**of_row, **content, "checksum": summed["checksum"]})
            else:
                added.append({**merge.key, "year": year, **content})
    add_all(session, SERIES, added)
    if replaced:
        row, key = SERIES.c, merges[0].key  # of one basin and product
        same_row = (
            row.basin_id == key["basin_id"],
            row.product == key["product"],
            row.variable == bindparam("replaced_variable"),
            row.year == bindparam("replaced_year"),
        )
        session.execute(SERIES.update().where(*same_row), replaced)


def _replaced(merge: _Merge, source_id: int, at: datetime) -> Iterator[dict[str, Any]]:
    stored = {row.year: row for row in merge.readable}
    for year, days in years_with(merge.old.period, merge.changed & ~merge.lost):
        row, where = stored[year], np.flatnonzero((merge.changed & ~merge.lost)[days])
        yield {
            **merge.key,
            "year": year,
            "revision": row.revision,
            "offset_bytes": where.astype(OFFSET).tobytes(),
            "value_bytes": merge.old.values[days][where].tobytes(),
            "flag_bytes": merge.old.flags[days][where].tobytes(),
            "old_source_id": row.source_id,
            "new_source_id": source_id,
            "replaced_at": at,
        }


def _arrivals(merge: _Merge, source_id: int, at: datetime) -> Iterator[dict[str, Any]]:
    # A range starts where the mask rises and ends before it falls.
    edges = np.flatnonzero(np.diff(merge.new.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    days = merge.old.days
    for first, end in edges:
        ends = {"first_day": days[first], "last_day": days[end - 1]}
        yield {**merge.key, **ends, "arrived_at": at, "source_id": source_id}


def _check_values(basin: str, variable: str, series: DailySeries) -> None:
    with np.errstate(over="ignore"):
        values = series.values.astype(VALUE)
    unexplained = np.isnan(values) & (series.flags & (Flag.MISSING | Flag.ABSENT) == 0)
    faults = {"is missing with no flag for it": unexplained, "is too large a number": np.isinf(values)}
    for fault, days in faults.items():
        if days.any():
            raise UnusableValues(
                f"{variable} of {basin} {fault} on {_first(series.period, days)} "
                f"({counted(int(days.sum()), 'day')} in all): "
                "correct the source, or flag the day as missing."
            )


def _first(span: Period, mask: Mask) -> Day | None:
    return span.days[int(np.argmax(mask))] if mask.any() else None
