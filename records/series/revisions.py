"""History of series: the arrival of each day, and the values that revisions replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, days_between
from hydrology.base.series import DailySeries, Flag
from records.database.statements import as_record
from records.series import series
from records.series.damaged_years import arrived, whole
from records.series.tables import ArrivalRow, RevisionRow
from records.series.year_rows import OFFSET, VALUE, january, known, trimmed


@dataclass(frozen=True, slots=True)
class Revision:
    """A replaced day: its old value, when it was replaced, and by which source."""

    day: Day
    old_value: float
    old_flags: int
    replaced_at: datetime
    old_source_id: int
    new_source_id: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """A range of days that became known at one instant."""

    first_day: Day
    last_day: Day
    arrived_at: datetime
    source_id: int


def as_known_at(
    session: Session, basin: str, product: str, variable: str, at: datetime, period: Period | None = None
) -> DailySeries | None:
    """Return a series as it was known at an instant.

    A day that had not arrived is ABSENT; None if no day had.

    Raises:
        DamagedSeries: it is damaged, or its log of revisions is.
    """
    key = {"basin_id": basin, "product": product, "variable": variable}
    stored = series.read(session, basin, product, variable)
    if stored is None:
        return None
    span = stored.period
    values, flags = stored.values.copy(), stored.flags.copy()
    for row in reversed(_log(session, key)):
        if row.replaced_at > at:
            offsets = np.frombuffer(row.offset_bytes, OFFSET).astype(np.int64)
            positions = offsets + days_between(span.first, january(row.year))
            values[positions] = np.frombuffer(row.value_bytes, VALUE)
            flags[positions] = np.frombuffer(row.flag_bytes, np.uint8)
    not_yet = ~arrived(session, key, span, at)
    values[not_yet], flags[not_yet] = np.nan, Flag.ABSENT
    then = DailySeries(span.first, values, flags, stored.unit)
    if period is None:
        return trimmed(then)
    part = then.over(period)
    return part if known(part).any() else None


def revisions(session: Session, basin: str, product: str, variable: str) -> list[Revision]:
    """Return every replaced day, oldest replacement first.

    Raises:
        DamagedSeries: the log of revisions is damaged.
    """
    key = {"basin_id": basin, "product": product, "variable": variable}
    replaced = [
        Revision(january(row.year) + offset, float(value), int(flag), *stamp)
        for row in _log(session, key)
        for stamp in [(row.replaced_at, row.old_source_id, row.new_source_id)]
        for offset, value, flag in zip(
            np.frombuffer(row.offset_bytes, OFFSET).astype("timedelta64[D]"),
            np.frombuffer(row.value_bytes, VALUE),
            np.frombuffer(row.flag_bytes, np.uint8),
            strict=True,
        )
    ]
    return sorted(replaced, key=lambda revision: revision.replaced_at)


def arrivals(session: Session, basin: str, product: str, variable: str) -> list[Arrival]:
    """Return the ranges of days in which a series arrived, in writing order."""
    key = {"basin_id": basin, "product": product, "variable": variable}
    rows = session.scalars(select(ArrivalRow).filter_by(**key).order_by(ArrivalRow.id))
    return [as_record(Arrival, row) for row in rows]


def newest_days(session: Session) -> dict[str, Day]:
    """Return the newest arrived day of each product."""
    newest: dict[str, Day] = {}
    following = select(func.min(ArrivalRow.product))
    product = session.scalar(following)
    while product is not None:  # product by product, as in the index: arrivals grow by one row per day and series
        newest[product] = session.scalars(
            select(func.max(ArrivalRow.last_day)).where(ArrivalRow.product == product)
        ).one()
        product = session.scalar(following.where(ArrivalRow.product > product))
    return newest


def _log(session: Session, key: Mapping[str, str]) -> Sequence[RevisionRow]:
    rows = session.scalars(select(RevisionRow).filter_by(**key).order_by(RevisionRow.year, RevisionRow.revision)).all()
    return whole(rows, RevisionRow, "its values before the revision are lost; restore a backup to recover them.")
