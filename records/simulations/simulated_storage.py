"""How much water a version simulates in a basin on its past days: all of it, and what reads as snow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from records.database.base import JsonObject
from records.database.checksums import is_whole
from records.series.year_rows import VALUE
from records.simulations.snow_cells import SnowMapping
from records.simulations.tables import SimulatedRecordRow, SimulatedWaterRow

WaterVariable = Literal["storage", "snow"]
WATER: tuple[WaterVariable, ...] = ("storage", "snow")
DAMAGED = "What is stored of the simulated past is damaged: simulate it again (freshet thresholds simulate)."
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
) -> dict[str, SimulatedWater | str]:
    """Return the water that a version simulates in some basins, or that it is damaged; one of which none is kept is not
    there."""
    record, water = SimulatedRecordRow, SimulatedWaterRow
    rows = session.execute(
        select(water, record.first_day, record.last_day)
        .join(record, and_(record.version_id == water.version_id, record.basin_id == water.basin_id))
        .where(water.version_id == version, water.basin_id.in_(basins), water.variable == variable)
    )
    return {
        row.basin_id: SimulatedWater(Period(first, last), np.frombuffer(row.content, VALUE), row.cells)
        if is_whole(water, row)
        else DAMAGED
        for row, first, last in rows
    }


def storage_of(session: Session, version: str, basin: str) -> SimulatedWater | str:
    """Return all water that a version simulates in a basin, or why none is kept."""
    return of_basins(session, version, [basin], "storage").get(basin) or why_none(version)


def snow_of(session: Session, version: str, basin: str, chosen: SnowMapping | str) -> SimulatedWater | str:
    """Return the snow that a version simulates in a basin by its snow cells, or why none is kept."""
    return snow_of_basins(session, version, {basin: chosen})[basin]


def snow_of_basins(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | str]
) -> dict[str, SimulatedWater | str]:
    """Return what `snow_of` does of many basins."""
    simulated = of_basins(session, version, list(chosen), "snow")
    snow: dict[str, SimulatedWater | str] = {}
    for basin, of_basin in chosen.items():
        water = simulated.get(basin, why_none(version))
        if isinstance(of_basin, str):
            snow[basin] = of_basin
        elif isinstance(water, str):
            snow[basin] = water
        else:
            snow[basin] = water if water.cells == of_basin.cells else OTHER_CELLS
    return snow


def why_none(version: str) -> str:
    """Return why no water of a version's past is known."""
    return (
        f"No past of version {version} that keeps its water was simulated: simulate it (freshet thresholds simulate)."
    )
