"""Levels of a version's own climatology: from its simulation of a basin's past days."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.extremes.frequency import FloodQuantile
from hydrology.extremes.thresholds import NamedLevel, Statistic
from records.database.json_columns import to_json
from records.database.statements import add_all, as_record, as_values
from records.simulations.simulated_loss import SimulatedLoss
from records.simulations.simulated_storage import SimulatedWater, WaterVariable
from records.simulations.tables import SimulatedLevelRow, SimulatedRecordRow, SimulatedWaterRow

UNIT = "m3/s"
"""The unit of all levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLevels:
    """The levels of a version's simulation of a basin.

    Attributes:
        first_day, last_day: the simulated days after the spin-up.
        area_name, area_m2: the area that depths were converted with.
        attributes_assumed: the attributes of the basin that were assumed.
        statistics: in `UNIT`.
        computed_at: by the service's clock.
    """

    version_id: str
    basin_id: str
    first_day: Day
    last_day: Day
    area_name: str
    area_m2: float
    attributes_assumed: list[str]
    statistics: Sequence[Statistic]
    computed_at: datetime


def replace(
    session: Session,
    levels: ModelLevels,
    water: Mapping[WaterVariable, SimulatedWater],
    loss: SimulatedLoss | None = None,
) -> None:
    """Store a version's levels in a basin, with its water and loss. They replace earlier ones."""
    key = {"version_id": levels.version_id, "basin_id": levels.basin_id}
    session.execute(delete(SimulatedLevelRow).filter_by(**key))
    session.execute(delete(SimulatedWaterRow).filter_by(**key))
    session.execute(delete(SimulatedRecordRow).filter_by(**key))
    lost = {"loss": loss and to_json(loss)}
    add_all(session, SimulatedRecordRow, [as_values(levels, "statistics") | lost])
    add_all(session, SimulatedLevelRow, (key | row for row in _rows(levels.statistics)))
    add_all(session, SimulatedWaterRow, [key | {"variable": name} | of.row() for name, of in water.items()])


def get(session: Session, version: str, basin: str) -> ModelLevels | None:
    """Return the levels of a version in a basin. None if none are stored."""
    record = session.get(SimulatedRecordRow, (version, basin))
    if record is None:
        return None
    query = select(SimulatedLevelRow).filter_by(version_id=version, basin_id=basin).order_by(SimulatedLevelRow.place)
    rows = groupby(session.scalars(query), lambda row: (row.kind, row.method))
    return as_record(ModelLevels, record, statistics=[_statistic(list(of)) for _, of in rows])


def _rows(statistics: Sequence[Statistic]) -> Iterator[dict[str, Any]]:
    in_order = [(statistic, named) for statistic in statistics for named in statistic.levels]
    for place, (statistic, named) in enumerate(in_order):
        first, last = (None, None) if statistic.period is None else (statistic.period.first, statistic.period.last)
        yield {
            "place": place,
            "first_day": first,
            "last_day": last,
            **as_values(statistic, "period", "levels"),
            **as_values(named, "level"),
            **as_values(named.level),
        }


def _statistic(rows: Sequence[SimulatedLevelRow]) -> Statistic:
    first = rows[0]
    period = None if first.first_day is None or first.last_day is None else Period(first.first_day, first.last_day)
    levels = tuple(as_record(NamedLevel, row, level=as_record(FloodQuantile, row)) for row in rows)
    return as_record(Statistic, first, period=period, levels=levels)
