"""The history of a series as records: its arrivals, and the days that revisions replaced."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from records.database.stored import as_record
from records.series.revisions import replaced_days
from records.series.year_rows import ARRIVALS, OFFSET, VALUE, january


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


def revisions(session: Session, basin: str, product: str, variable: str) -> list[Revision]:
    """Return every replaced day, oldest replacement first.

    Raises:
        DamagedSeries: the log of revisions is damaged.
    """
    key = {"basin_id": basin, "product": product, "variable": variable}
    replaced = [
        Revision(january(row.year) + offset, float(value), int(flag), *stamp)
        for row in replaced_days(session, key)
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
    rows = session.execute(select(ARRIVALS).filter_by(**key).order_by(ARRIVALS.c.id))
    return [as_record(Arrival, row) for row in rows]
