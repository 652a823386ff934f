"""Simulated water storage of a version in a basin on past days: total, and snow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from records.database.base import JsonObject
from records.database.checksums import is_whole
from records.series.year_rows import VALUE
from records.simulations.snow_cells import SnowMapping, mappings
from records.simulations.tables import SimulatedRecordRow, SimulatedWaterRow

WaterVariable = Literal["storage", "snow"]
WATER: tuple[WaterVariable, ...] = ("storage", "snow")


@dataclass(frozen=True, slots=True)
class SimulatedWater:
    """Water in a basin at the end of each day, the mean of the members.

    Attributes:
        period: the simulated days after the spin-up.
        values: (days,) in mm.
        cells: of each member, whose sum is the snow; None for the total water.
    """

    period: Period
    values: npt.NDArray[np.float32]
    cells: JsonObject | None = None

    def row(self) -> dict[str, Any]:
        """Return the stored values besides the key and the record's days."""
        return {"cells": self.cells, "content": self.values.astype(VALUE, copy=False).tobytes()}


def of_basins(
    session: Session, version: str, basins: Sequence[str], variable: WaterVariable
) -> dict[str, SimulatedWater | Absent]:
    """Return a version's simulated water in basins, or that it is damaged. Basins without any stored are left out."""
    record, water = SimulatedRecordRow, SimulatedWaterRow
    rows = session.execute(
        select(water, record.first_day, record.last_day)
        .join(record, and_(record.version_id == water.version_id, record.basin_id == water.basin_id))
        .where(water.version_id == version, water.basin_id.in_(basins), water.variable == variable)
    )
    return {
        row.basin_id: SimulatedWater(Period(first, last), np.frombuffer(row.content, VALUE), row.cells)
        if is_whole(water, row)
        else absent(Reason.SIMULATION_DAMAGED)
        for row, first, last in rows
    }


def storage_of(session: Session, version: str, basin: str) -> SimulatedWater | Absent:
    """Return a version's total simulated water in a basin, or a reason."""
    return of_basins(session, version, [basin], "storage").get(basin) or why_none(version)


def snow_of(session: Session, version: str, basin: str, chosen: SnowMapping | Absent) -> SimulatedWater | Absent:
    """Return a version's simulated snow in a basin, or a reason."""
    return snow_of_basins(session, version, {basin: chosen})[basin]


def snow_of_basins(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | Absent]
) -> dict[str, SimulatedWater | Absent]:
    """Return the result of `snow_of` for many basins."""
    simulated = of_basins(session, version, list(chosen), "snow")
    snow: dict[str, SimulatedWater | Absent] = {}
    for basin, of_basin in chosen.items():
        water = simulated.get(basin, why_none(version))
        if isinstance(of_basin, Absent):
            snow[basin] = of_basin
        elif isinstance(water, Absent):
            snow[basin] = water
        else:
            snow[basin] = water if water.cells == of_basin.cells else absent(Reason.SNOW_CELLS_CHANGED)
    return snow


def lacking_snow(session: Session, version: str) -> list[str]:
    """Return the basins with a simulated past whose snow is not that of their present cells."""
    record = SimulatedRecordRow
    basins = [*session.scalars(select(record.basin_id).where(record.version_id == version).order_by(record.basin_id))]
    chosen = {name: of for name, of in mappings(session, version, basins).items() if not isinstance(of, Absent)}
    return [name for name, of in snow_of_basins(session, version, chosen).items() if isinstance(of, Absent)]


def why_none(version: str) -> Absent:
    """Return the reason why no past water of a version is known."""
    return absent(Reason.NO_SIMULATED_STORAGE, version=version)
