"""How much water a version simulates in a basin on its past days: all of it, and what reads as snow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from hydrology.calendar import Period
from records.skill import SnowCells
from records.tables.base import JsonObject
from records.tables.model_levels import SimulatedRecordRow, SimulatedWaterRow
from records.years import VALUE

WaterVariable = Literal["storage", "snow"]
WATER: tuple[WaterVariable, ...] = ("storage", "snow")
OTHER_CELLS = "Other cells read as snow since the simulation was made: make it again (freshet thresholds simulate)."


@dataclass(frozen=True, slots=True)
class SimulatedWater:
    """Water in a basin at the end of each day, the mean of the members.

    Attributes:
        period: the simulated days, without those on which the store was still filling.
        values: (days,) in mm.
        cells: of each member, whose sum is the snow; None for all of the water.
    """

    period: Period
    values: npt.NDArray[np.float32]
    cells: JsonObject | None = None

    def row(self) -> dict[str, Any]:
        """Return what is stored of it beside its key and its record's days."""
        return {"cells": self.cells, "content": self.values.astype(VALUE, copy=False).tobytes()}


def of_basins(
    session: Session, version: str, basins: Sequence[str], variable: WaterVariable
) -> dict[str, SimulatedWater]:
    """Return the water that a version simulates in some basins; one of which none is kept is not there."""
    record, water = SimulatedRecordRow, SimulatedWaterRow
    rows = session.execute(
        select(water.basin_id, record.first_day, record.last_day, water.content, water.cells)
        .join(record, and_(record.version_id == water.version_id, record.basin_id == water.basin_id))
        .where(water.version_id == version, water.basin_id.in_(basins), water.variable == variable)
    )
    return {
        basin: SimulatedWater(Period(first, last), np.frombuffer(content, VALUE), cells)
        for basin, first, last, content, cells in rows
    }


def storage_of(session: Session, version: str, basin: str) -> SimulatedWater | str:
    """Return all water that a version simulates in a basin, or why none is kept."""
    return of_basins(session, version, [basin], "storage").get(basin) or why_none(version)


def snow_of(session: Session, version: str, cells: SnowCells) -> SimulatedWater | str:
    """Return the snow that a version simulates in the basin of its snow cells, or why none is kept."""
    return snow_of_basins(session, version, [cells])[cells.basin_id]


def snow_of_basins(session: Session, version: str, cells: Sequence[SnowCells]) -> dict[str, SimulatedWater | str]:
    """Return what `snow_of` does of many basins."""
    kept = of_basins(session, version, [of_basin.basin_id for of_basin in cells], "snow")
    snow: dict[str, SimulatedWater | str] = {}
    for of_basin in cells:
        water = kept.get(of_basin.basin_id)
        if water is None:
            snow[of_basin.basin_id] = why_none(version)
        else:
            snow[of_basin.basin_id] = water if water.cells == of_basin.cells else OTHER_CELLS
    return snow


def why_none(version: str) -> str:
    """Return why no water of a version's past is known."""
    return (
        f"No past of version {version} that keeps its water was simulated: simulate it (freshet thresholds simulate)."
    )
