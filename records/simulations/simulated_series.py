"""Simulated past of versions: flow of evaluations, stored water, snow, loss, and levels of their own climatology."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, LargeBinary, Row, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.doc import Doc
from hydrology.base.errors import NotFound
from hydrology.base.reasons import Reason
from hydrology.extremes.annual import Trend
from hydrology.extremes.frequency import FloodQuantile
from hydrology.extremes.levels import NamedLevel, Statistic
from hydrology.extremes.signatures import Estimate
from records.database.base import CalendarDay, Document, JsonObject, document
from records.database.checksums import Corrupt, Summed, is_whole
from records.database.stored import ELSEWHERE, add_all, as_record, as_values, find_row, stored, table_of, upsert
from records.series.year_rows import VALUE
from records.simulations.snow_cells import SnowMapping, mappings

WaterVariable = Literal["storage", "snow"]
WATER: tuple[WaterVariable, ...] = ("storage", "snow")


class NotSimulated(NotFound):
    """No simulation of that version and basin is stored."""

    remedy = "Evaluate the version here: `freshet evaluate`, or post a job of the kind `evaluation`."


@stored(
    "simulated_flow",
    Column("first_day", CalendarDay, nullable=False),
    Column("last_day", CalendarDay, nullable=False),
    # Simulated, then observed; float32, little-endian.
    Column("content", LargeBinary, nullable=False),
    CheckConstraint("first_day <= last_day", name="order"),
    key=("version_id", "basin_id", "first_day", "last_day"),
    summed=Summed(("version_id", "basin_id", "first_day", "last_day"), ("content",)),
)
class SimulatedFlow:
    """Flow of a basin on the days of an evaluation, mm/day, each (days,).

    Attributes:
        simulated: the mean of the members; observed: NaN where missing.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    period: Annotated[Period, ELSEWHERE]
    simulated: Annotated[npt.NDArray[np.float32], ELSEWHERE]
    observed: Annotated[npt.NDArray[np.float32], ELSEWHERE]
    evaluated_at: datetime


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

    @property
    def content(self) -> bytes:
        return self.values.astype(VALUE, copy=False).tobytes()


@document
class RiverSignatures:
    """Signatures by name, in mm/day (`hydrology.extremes.signatures`); estimates are empty where no errors are known.

    `tested_in`: the number of basins, unseen by the members that simulated them, that the estimates' ranges are of.
    """

    simulated: Mapping[str, float]
    estimates: Mapping[str, Estimate]
    tested_in: int | None


def _of_record() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["version_id", "basin_id"], ["simulated_records.version_id", "simulated_records.basin_id"]
    )


@stored(
    "simulated_water",
    _of_record(),
    CheckConstraint("(variable = 'snow') = (cells IS NOT NULL)", name="cells"),
    key=("version_id", "basin_id", "variable"),
    summed=Summed(("version_id", "basin_id", "variable"), ("content",)),
)
class _StoredWater:
    """Simulated water in a basin at the end of each day, mm: float32, little-endian; and its cells."""

    version_id: str
    basin_id: str
    variable: WaterVariable
    cells: JsonObject | None
    content: bytes


@document
class SimulatedLoss:
    """Mean annual loss over the simulated days, mm."""

    members: Annotated[Mapping[str, float], Doc("Each member's, mm a year.")]
    pet: Annotated[
        float | Absent,
        Doc(
            "Potential evapotranspiration of the same days from temperature and latitude (Oudin et al. 2005), mm a "
            "year."
        ),
    ]

    @property
    def mean(self) -> Annotated[float, Doc("The mean of the members, mm a year.")]:
        return sum(self.members.values()) / len(self.members)

    @property
    def exceeding(
        self,
    ) -> Annotated[
        list[str],
        Doc(
            "The members that lose more: a part of their loss is water that leaves the basin unseen, too much rain in "
            "the weather product, or an error. None where `pet` is not known."
        ),
    ]:
        return [] if isinstance(self.pet, Absent) else [name for name, loss in self.members.items() if loss > self.pet]


@stored(
    "simulated_records",
    # Null of a version that does not conserve mass.
    Column("loss", Document(SimulatedLoss)),
    CheckConstraint("first_day <= last_day", name="order"),
    CheckConstraint("area_m2 > 0", name="area"),
    key=("version_id", "basin_id"),
)
class ModelLevels:
    """The simulated days of a basin by a version, and the levels of their flow.

    Attributes:
        first_day, last_day: the simulated days after the spin-up.
        area_name, area_m2: the area that depths were converted with.
        statistics: in `simulated_levels.UNIT`.
        signatures: None where it was computed before they were.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    first_day: Day
    last_day: Day
    area_name: str
    area_m2: float
    attributes_assumed: list[str]
    statistics: Annotated[Sequence[Statistic], ELSEWHERE]
    signatures: RiverSignatures | None
    computed_at: datetime


SIMULATED = table_of(ModelLevels)


def replace_flow(session: Session, flows: Sequence[SimulatedFlow]) -> None:
    """Store flows, each in place of that of the same version, basin and period. Equal ones are not written."""
    upsert(session, SimulatedFlow, map(_values, flows), compared=("checksum",))


def newest_flow(session: Session, versions: Sequence[str], basin: str) -> SimulatedFlow:
    """Return the newest flow of the first of some versions that has one. Raise Corrupt if it is damaged."""
    row = SIMULATED_FLOW.c
    for version in versions:
        query = (
            select(SIMULATED_FLOW)
            .filter_by(version_id=version, basin_id=basin)
            .order_by(row.evaluated_at, row.last_day)
        )
        if stored := session.execute(query).all():
            return _flow(stored[-1])
    raise NotSimulated(
        f"No simulation of version {versions[0]} in {basin} is stored: evaluate it (freshet evaluate --version "
        f"{versions[0]})."
    )


def of_basins(
    session: Session, version: str, basins: Sequence[str], variable: WaterVariable
) -> dict[str, SimulatedWater | Absent]:
    """Return a version's simulated water in basins, or that it is damaged. Basins without any stored are left out."""
    water = SIMULATED_WATER
    rows = session.execute(
        select(water, SIMULATED.c.first_day, SIMULATED.c.last_day)
        .join(SIMULATED)
        .where(water.c.version_id == version, water.c.basin_id.in_(basins), water.c.variable == variable)
    )
    return {
        row.basin_id: SimulatedWater(Period(row.first_day, row.last_day), np.frombuffer(row.content, VALUE), row.cells)
        if is_whole(water, row)
        else absent(Reason.SIMULATION_DAMAGED)
        for row in rows
    }


def storage_of(session: Session, version: str, basin: str) -> SimulatedWater | Absent:
    return of_basins(session, version, [basin], "storage").get(basin) or why_none(version)


def snow_of(session: Session, version: str, basin: str, chosen: SnowMapping | Absent) -> SimulatedWater | Absent:
    return snow_of_basins(session, version, {basin: chosen})[basin]


def snow_of_basins(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | Absent]
) -> dict[str, SimulatedWater | Absent]:
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
    query = select(SIMULATED.c.basin_id).where(SIMULATED.c.version_id == version)
    basins = [*session.scalars(query.order_by(SIMULATED.c.basin_id))]
    chosen = {name: of for name, of in mappings(session, version, basins).items() if not isinstance(of, Absent)}
    return [name for name, of in snow_of_basins(session, version, chosen).items() if isinstance(of, Absent)]


def why_none(version: str) -> Absent:
    return absent(Reason.NO_SIMULATED_STORAGE, version=version)


def loss_of(session: Session, version: str, basin: str) -> tuple[Period, SimulatedLoss] | Absent:
    row = find_row(session, SIMULATED, version_id=version, basin_id=basin)
    if row is None or row.loss is None:
        return why_none(version)
    return Period(row.first_day, row.last_day), row.loss


def _values(flow: SimulatedFlow) -> dict[str, object]:
    content = np.concatenate([flow.simulated, flow.observed]).astype(VALUE).tobytes()
    days = {"first_day": flow.period.first, "last_day": flow.period.last}
    return as_values(flow, "period", "simulated", "observed") | days | {"content": content}


def _flow(row: Row[Any]) -> SimulatedFlow:
    if not is_whole(SIMULATED_FLOW, row):
        raise Corrupt(f"The stored simulation of {row.basin_id} is damaged: evaluate version {row.version_id} again.")
    simulated, observed = np.frombuffer(row.content, VALUE).reshape(2, -1)
    period = Period(row.first_day, row.last_day)
    return as_record(SimulatedFlow, row, period=period, simulated=simulated, observed=observed)


UNIT = "m3/s"
"""The unit of all levels."""


@stored(
    "simulated_levels",
    _of_record(),
    CheckConstraint("value IS NOT NULL OR reason IS NOT NULL", name="reason"),
    key=("version_id", "basin_id", "place"),
)
class _StoredLevel:
    """A simulated level, m3/s, with its position and the years that it uses."""

    version_id: str
    basin_id: str
    place: int
    kind: str
    method: str
    years: int
    left_out_years: int
    dry_years: int
    low_outliers: int | None
    trend: Trend | None
    first_day: Day | None
    last_day: Day | None
    name: str
    return_period_years: float | None
    exceeded_percent: int | None
    value: float | None
    low: float | None
    high: float | None
    reason: Absent | None


SIMULATED_FLOW, SIMULATED_WATER, _LEVELS = table_of(SimulatedFlow), table_of(_StoredWater), table_of(_StoredLevel)


def replace(
    session: Session,
    levels: ModelLevels,
    water: Mapping[WaterVariable, SimulatedWater],
    loss: SimulatedLoss | None = None,
) -> None:
    key = {"version_id": levels.version_id, "basin_id": levels.basin_id}
    for table in (_LEVELS, SIMULATED_WATER, SIMULATED):
        session.execute(table.delete().filter_by(**key))
    add_all(session, ModelLevels, [as_values(levels, "statistics") | {"loss": loss}])
    add_all(session, _LEVELS, (key | row for row in _rows(levels.statistics)))
    waters = (key | {"variable": name, "cells": of.cells, "content": of.content} for name, of in water.items())
    add_all(session, SIMULATED_WATER, waters)


def get(session: Session, version: str, basin: str) -> ModelLevels | None:
    record = find_row(session, SIMULATED, version_id=version, basin_id=basin)
    if record is None:
        return None
    query = select(_LEVELS).filter_by(version_id=version, basin_id=basin).order_by(_LEVELS.c.place)
    rows = groupby(session.execute(query), lambda row: (row.kind, row.method))
    return as_record(ModelLevels, record, statistics=[_statistic(list(of)) for _, of in rows])


def _rows(statistics: Sequence[Statistic]) -> Iterator[dict[str, Any]]:
    in_order = [(statistic, named) for statistic in statistics for named in statistic.levels]
    for place, (statistic, named) in enumerate(in_order):
        first, last = (None, None) if statistic.period is None else (statistic.period.first, statistic.period.last)
        yield {
            "place": place,
            "first_day": first,
            "last_day": last,
            **as_values(statistic, "period", "levels", "fit"),
            **as_values(named, "level"),
            **as_values(named.level),
        }


def _statistic(rows: Sequence[Row[Any]]) -> Statistic:
    first = rows[0]
    period = None if first.first_day is None or first.last_day is None else Period(first.first_day, first.last_day)
    levels = tuple(as_record(NamedLevel, row, level=as_record(FloodQuantile, row)) for row in rows)
    return as_record(Statistic, first, period=period, levels=levels, fit=None)
