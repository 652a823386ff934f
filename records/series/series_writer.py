"""Writes daily series: adds new days, logs and replaces different ones, and leaves equal ones alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.errors import DataProblem
from hydrology.base.series import DailySeries, Flag
from records.basins import basins
from records.database.checksums import is_whole, with_checksum
from records.database.statements import add_all, table_of
from records.series.damaged_years import DamagedSeries, arrived
from records.series.tables import ArrivalRow, RevisionRow, SeriesRow
from records.series.year_rows import OFFSET, VALUE, Mask, calendar_years, joined, known, years_of, years_with


class UnitConflict(DataProblem):
    """The series is stored in another unit."""

    kind = "unit-conflict"


class UnusableValues(DataProblem):
    """A value that is neither a number nor flagged as missing."""

    kind = "unusable-values"


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write.

    Attributes:
        new_days: days that were not known before.
        changed_days: known days whose value or flag was replaced (and logged, unless it was damaged).
        unchanged_days: days that the input repeats unchanged.
        first_new: the first new day.
        first_changed: the first replaced day.
    """

    new_days: int = 0
    changed_days: int = 0
    unchanged_days: int = 0
    first_new: Day | None = None
    first_changed: Day | None = None


def write(
    session: Session, basin: str, product: str, variable: str, series: DailySeries, source_id: int, at: datetime
) -> Written:
    """Merge a series into the stored one: new days are added, known days replaced, ABSENT days ignored.

    Writing the same series again changes nothing. New days are recorded as arrived at `at`, replaced ones as replaced
    at `at`. A damaged year is replaced if the series contains all days that it had.

    Raises:
        UnknownBasin: there is no such basin.
        UnitConflict: the series is stored in another unit.
        UnusableValues: a value is infinite, or missing without a flag for it.
        DamagedSeries: a year is damaged, and the series lacks some of its days.
    """
    basins.lock(session, basin)
    _check_values(basin, variable, series)
    if not known(series).any():
        return Written()
    key = {"basin_id": basin, "product": product, "variable": variable}
    years = years_of(series.period)
    rows = rows_of(session, key, years)
    readable = [row for row in rows if is_whole(SeriesRow, row)]
    damaged_rows = [row for row in rows if not is_whole(SeriesRow, row)]
    _check_unit(basin, variable, readable, series.unit)

    span = calendar_years(years[0], years[-1])
    old, incoming = joined(readable, span, series.unit), series.over(span)
    lost = _lost(session, key, damaged_rows, incoming)
    new = known(incoming) & ~known(old) & ~lost
    changed = lost | (known(incoming) & known(old) & _differs(old, incoming))
    written = new | changed
    if written.any():
        values = np.where(written, incoming.values.astype(VALUE), old.values)
        merged = DailySeries(span.first, values, np.where(written, incoming.flags, old.flags), series.unit)
        _log_replaced(session, readable, old, changed & ~lost, source_id, at)
        _store(session, key, rows, merged, written, {"source_id": source_id, "updated_at": at})
        _log_arrivals(session, key, span, new, source_id, at)
    unchanged = known(incoming) & ~written
    new_days, changed_days, unchanged_days = (int(mask.sum()) for mask in (new, changed, unchanged))
    return Written(new_days, changed_days, unchanged_days, _first(span, new), _first(span, changed))


def rows_of(session: Session, key: Mapping[str, str], years: range | None) -> Sequence[Row[Any]]:
    """Return the stored years of a series in order: all, or those from the first to the last given."""
    query = select(*table_of(SeriesRow).columns).filter_by(**key).order_by(SeriesRow.year)
    if years is not None:
        query = query.where(SeriesRow.year.between(years[0], years[-1]))
    return session.execute(query).all()


def _lost(session: Session, key: Mapping[str, str], rows: Sequence[Row[Any]], incoming: DailySeries) -> Mask:
    """Return the days that were known in damaged years; raise `DamagedSeries` where the new series lacks one."""
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
    """Compare bits, so that -0 differs from 0; all NaN are equal."""
    before, after = old.values.astype(VALUE), new.values.astype(VALUE)
    bits = before.view("<u4") != after.view("<u4")
    return np.asarray((bits & ~(np.isnan(before) & np.isnan(after))) | (old.flags != new.flags))


def _store(
    session: Session,
    key: Mapping[str, str],
    rows: Sequence[Row[Any]],
    merged: DailySeries,
    written: Mask,
    stamp: Mapping[str, Any],
) -> None:
    revisions = {row.year: row.revision for row in rows}
    added, replaced = [], []
    for year, days in years_with(merged.period, written):
        content = {
            "value_bytes": merged.values[days].tobytes(),
            "flag_bytes": merged.flags[days].tobytes(),
            "unit": merged.unit,
            "revision": revisions.get(year, 0) + 1,
            **stamp,
        }
        if year in revisions:
            summed = with_checksum(SeriesRow, {**key, "year": year, **content})
            replaced.append({"replaced_year": year, **content, "checksum": summed["checksum"]})
        else:
            added.append({**key, "year": year, **content})
    add_all(session, SeriesRow, added)
    if replaced:
        table = table_of(SeriesRow)
        same_series = [table.c[name] == value for name, value in key.items()]
        session.execute(table.update().where(*same_series, table.c.year == bindparam("replaced_year")), replaced)


def _log_replaced(
    session: Session, rows: Sequence[Row[Any]], old: DailySeries, changed: Mask, source_id: int, at: datetime
) -> None:
    stored = {row.year: row for row in rows}
    log = []
    for year, days in years_with(old.period, changed):
        row, where = stored[year], np.flatnonzero(changed[days])
        log.append(
            {
                **{name: getattr(row, name) for name in ("basin_id", "product", "variable", "year", "revision")},
                "offset_bytes": where.astype(OFFSET).tobytes(),
                "value_bytes": old.values[days][where].tobytes(),
                "flag_bytes": old.flags[days][where].tobytes(),
                "old_source_id": row.source_id,
                "new_source_id": source_id,
                "replaced_at": at,
            }
        )
    add_all(session, RevisionRow, log)


def _log_arrivals(
    session: Session, key: Mapping[str, str], span: Period, new_days: Mask, source_id: int, at: datetime
) -> None:
    # A range starts where the mask rises and ends before it falls.
    edges = np.flatnonzero(np.diff(new_days.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    days, stamp = span.days, {"arrived_at": at, "source_id": source_id}
    ranges = [{**key, "first_day": days[first], "last_day": days[end - 1], **stamp} for first, end in edges]
    add_all(session, ArrivalRow, ranges)


def _check_values(basin: str, variable: str, series: DailySeries) -> None:
    with np.errstate(over="ignore"):
        values = series.values.astype(VALUE)
    unexplained = np.isnan(values) & (series.flags & (Flag.MISSING | Flag.ABSENT) == 0)
    faults = {"is missing with no flag for it": unexplained, "is too large a number": np.isinf(values)}
    for fault, days in faults.items():
        if days.any():
            raise UnusableValues(
                f"{variable} of {basin} {fault} on {_first(series.period, days)} ({int(days.sum())} days in all): "
                "correct the source, or flag the day as missing."
            )


def _check_unit(basin: str, variable: str, rows: Sequence[Row[Any]], unit: str) -> None:
    for row in rows:
        if row.unit != unit:
            raise UnitConflict(
                f"{variable} of {basin} is stored in {row.unit}, the new values are in {unit}: "
                "convert them before they are written."
            )


def _first(span: Period, mask: Mask) -> Day | None:
    return span.days[int(np.argmax(mask))] if mask.any() else None
