"""Levels of a version's own climatology: from its simulation of a basin's past days."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.extremes.annual import Trend
from hydrology.extremes.frequency import FloodQuantile
from hydrology.extremes.thresholds import NamedLevel, Statistic
from records.database.base import Base, Document
from records.database.statements import add_all, as_record, as_values, table_of
from records.simulations.simulated_series import (
    SIMULATED,
    ModelLevels,
    SimulatedLoss,
    SimulatedWater,
    SimulatedWaterRow,
    WaterVariable,
)

UNIT = "m3/s"
"""The unit of all levels."""


class SimulatedLevelRow(Base):
    """A simulated level, m3/s, with its position and the years that it uses."""

    __tablename__ = "simulated_levels"
    __table_args__ = (
        ForeignKeyConstraint(
            ["version_id", "basin_id"], ["simulated_records.version_id", "simulated_records.basin_id"]
        ),
        CheckConstraint("value IS NOT NULL OR reason IS NOT NULL", name="reason"),
    )

    version_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    method: Mapped[str]
    years: Mapped[int]
    left_out_years: Mapped[int]
    dry_years: Mapped[int]
    low_outliers: Mapped[int | None]
    trend: Mapped[Trend | None] = mapped_column(Document(Trend))
    first_day: Mapped[Day | None]
    last_day: Mapped[Day | None]
    name: Mapped[str]
    return_period_years: Mapped[int | None]
    exceeded_percent: Mapped[int | None]
    value: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    reason: Mapped[Absent | None]


def replace(
    session: Session,
    levels: ModelLevels,
    water: Mapping[WaterVariable, SimulatedWater],
    loss: SimulatedLoss | None = None,
) -> None:
    """Store a version's levels in a basin, with its water and loss. They replace earlier ones."""
    key = {"version_id": levels.version_id, "basin_id": levels.basin_id}
    for table in map(table_of, (SimulatedLevelRow, SimulatedWaterRow, ModelLevels)):
        session.execute(table.delete().where(*(table.c[name] == value for name, value in key.items())))
    add_all(session, ModelLevels, [as_values(levels, "statistics") | {"loss": loss}])
    add_all(session, SimulatedLevelRow, (key | row for row in _rows(levels.statistics)))
    waters = (key | {"variable": name, "cells": of.cells, "content": of.content} for name, of in water.items())
    add_all(session, SimulatedWaterRow, waters)


def get(session: Session, version: str, basin: str) -> ModelLevels | None:
    record = session.execute(select(SIMULATED).filter_by(version_id=version, basin_id=basin)).one_or_none()
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
