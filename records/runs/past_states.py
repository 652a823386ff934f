"""Reads the water in the cells of stored states, day by day."""

from typing import Any

import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from records.database.named_arrays import unpack
from records.runs.states import is_whole
from records.runs.tables import StateRow

CELLS = "c"
"""The array of a state with the water in its cells."""


def cells_between(session: Session, version: str, basin: str, period: Period) -> dict[Day, npt.NDArray[Any]]:
    """Return the water in the cells of each valid state in a period, (members, cells) in mm, by day.

    Damaged states are left out. The version conserves mass: the cells of other networks hold no water.
    """
    rows = session.scalars(
        select(StateRow)
        .filter_by(version_id=version, basin_id=basin, invalid_at=None)
        .where(StateRow.day >= period.first, StateRow.day <= period.last)
        .order_by(StateRow.day)
    )
    return {row.day: unpack(row.content)[CELLS] for row in rows if is_whole(row)}
