"""How much room each kind of data took on the days when that was measured, and how much a day added."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, days_between
from hydrology.base.doc import Doc, Why
from records.database.base import Long
from records.database.stored import stored, table_of, upsert

GROWTH_DAYS = np.timedelta64(30, "D")


@stored("storage_sizes", key=("day", "kind"))
class _Size:
    """The room of a kind of data on a day, with its indexes."""

    day: Day
    kind: str
    size: Annotated[int, Long()]


_SIZES = table_of(_Size)


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The room that a kind of data takes in the database."""

    kind: Annotated[str, Doc("The kind of data.", ("states",))]
    size_bytes: Annotated[int, Doc("With indexes, as last measured.")]
    bytes_a_day: Annotated[
        float | None,
        Doc("How much was added a day, in the mean of at most 30 days; negative after a prune."),
        Why("It was measured on one day alone."),
    ]


def note(session: Session, day: Day, sizes: Mapping[str, int]) -> None:
    """Store the bytes of each kind on a day; a later measurement of the day replaces it."""
    upsert(session, _SIZES, [{"day": day, "kind": kind, "size": size} for kind, size in sizes.items()])


def measured_on(session: Session) -> Day | None:
    day: Day | None = session.scalar(select(func.max(_SIZES.c.day)))
    return day


def read(session: Session) -> list[StorageUse]:
    """Return the newest measurement of each kind, with its growth, the largest first. Empty before the first."""
    newest = measured_on(session)
    if newest is None:
        return []
    rows = session.execute(select(_SIZES).where(_SIZES.c.day >= newest - GROWTH_DAYS).order_by(_SIZES.c.day))
    sizes: dict[str, dict[Day, int]] = {}
    for row in rows:
        sizes.setdefault(row.kind, {})[row.day] = row.size
    found = [_use(kind, of_days, newest) for kind, of_days in sizes.items() if newest in of_days]
    return sorted(found, key=lambda use: -use.size_bytes)


def _use(kind: str, sizes: Mapping[Day, int], newest: Day) -> StorageUse:
    days = days_between(min(sizes), newest)
    return StorageUse(kind, sizes[newest], (sizes[newest] - sizes[min(sizes)]) / days if days else None)
