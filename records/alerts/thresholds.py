"""Levels of a basin's discharge: those that operators set, and those of its record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.extremes import thresholds
from hydrology.uncertainty.exceedance import Direction
from jobspec.flood_categories import CategoryName
from jobspec.thresholds import NewThreshold
from records.alerts import flood_frequency
from records.alerts.tables import ThresholdRow
from records.basins import basins
from records.database.statements import as_record
from records.series import series

Change = Literal["new", "changed", "unchanged"]
DIRECTIONS: dict[thresholds.Kind, Direction] = {"flood": "rising", "low-flow": "falling", "flow-duration": "falling"}
"""The direction in which flow passes the levels of a record."""
MAX_LEVELS = 32
"""Maximum number of levels that are set for a basin: each can change, and be sent, with every run."""
FIXED_UNIT = "m3/s"
"""Unit of the levels that operators set."""


class UnknownThreshold(NotFound):
    """The basin has no level of this name that an operator set."""

    kind = "unknown-threshold"


class ReservedName(InvalidInput):
    """The name belongs to a level of the basin's record, or of a version."""

    kind = "reserved-name"


class TooManyLevels(InvalidInput):
    """The basin has as many levels as it may."""

    kind = "too-many-levels"
    status = 409
    remedy = "Remove a level first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A level that an operator set.

    Attributes:
        discharge: m3/s.
        set_at: when its value was last changed, by the service's clock.
        category, source, source_day: of an official flood category, who declared it, and when; None for others.
        official_stage, official_flow: m and m3/s, as the category's source has them. The discharge follows the stage
            by the basin's rating where that covers it, and otherwise is the flow.
        impact: what happens from it on; None where nothing is stated.
        confirmed: the discharge at which somebody confirmed it, m3/s; None where nobody did.
    """

    name: str
    discharge: float
    direction: Direction
    set_at: datetime
    category: CategoryName | None = None
    source: str | None = None
    source_day: Day | None = None
    official_stage: float | None = None
    official_flow: float | None = None
    impact: str | None = None
    confirmed: float | None = None


@dataclass(frozen=True, slots=True)
class RecordLevels:
    """The levels of a basin's record of discharge.

    Attributes:
        unit: of all levels; None without a record.
        floods: how floods are analysed, and which of them are for comparison alone.
    """

    unit: str | None
    statistics: Sequence[thresholds.Statistic]
    floods: thresholds.FloodFrequency


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinLevel:
    """A level of a basin, of its record or set by an operator.

    Attributes:
        kind: the level's statistic; None for one that an operator set.
        return_period_years: return period in years; None for a level without one.
        discharge: in `unit`; None for the reason given.
        official_stage: m, of an official flood category; None for others.
    """

    name: str
    kind: thresholds.Kind | None
    direction: Direction
    return_period_years: int | None
    discharge: float | None
    unit: str | None
    reason: Absent | None
    official_stage: float | None = None


def put(session: Session, basin: str, new: NewThreshold, at: datetime) -> Change:
    """Set a level of a basin. Repeating it writes nothing; an official category becomes an operator's level.

    Raises:
        UnknownBasin: there is no such basin.
        ReservedName: a level of its record, or of a version, has this name.
        TooManyLevels: it has as many as it may.
    """
    basins.lock(session, basin)
    if new.name.removeprefix(thresholds.OF_MODEL) in thresholds.names():
        raise ReservedName(f"{new.name} is the name of a computed level: choose another name.")
    row = session.get(ThresholdRow, (basin, new.name))
    if row is None:
        if len(of_basin(session, basin)) >= MAX_LEVELS:
            raise TooManyLevels(f"{basin} has {MAX_LEVELS} levels, the maximum: remove one first.")
        session.add(ThresholdRow(basin_id=basin, set_at=at, **new.model_dump()))
        change: Change = "new"
    elif (row.discharge, row.direction, row.category) == (new.discharge, new.direction, None):
        return "unchanged"
    else:
        row.confirmed = row.confirmed if row.direction == new.direction else None
        row.discharge, row.direction, row.set_at = new.discharge, new.direction, at
        row.category = row.source = row.source_day = row.impact = None
        row.official_stage = row.official_flow = None
        change = "changed"
    session.flush()
    return change


def get(session: Session, basin: str, name: str) -> Threshold:
    """Return a level that an operator set.

    Raises:
        UnknownBasin: there is no such basin.
        UnknownThreshold: it has no such level.
    """
    basins.require(session, basin)
    row = session.get(ThresholdRow, (basin, name))
    if row is None or row.discharge is None:
        raise UnknownThreshold(
            f"Nobody set a level {name[:64]!r} of {basin}: list the basin's thresholds to see their names."
        )
    return as_record(Threshold, row)


def of_basin(session: Session, basin: str) -> list[Threshold]:
    """Return the levels that operators set, by name; categories without a discharge are left out."""
    known = select(ThresholdRow).filter_by(basin_id=basin).where(ThresholdRow.discharge.is_not(None))
    query = known.order_by(ThresholdRow.name)
    return [as_record(Threshold, row) for row in session.scalars(query)]


def remove(session: Session, basin: str, name: str) -> None:
    """Remove a level that an operator set.

    Raises:
        UnknownBasin: there is no such basin.
        UnknownThreshold: it has no such level.
    """
    get(session, basin, name)
    session.execute(delete(ThresholdRow).filter_by(basin_id=basin, name=name))


def of_record(session: Session, basin: str, *, intervals: bool = True) -> RecordLevels:
    """Return the levels of a basin's gauge record, in its stored unit.

    Args:
        intervals: whether to compute confidence intervals.
    """
    floods = flood_frequency.get(session, basin).as_asked()
    daily = series.read(session, basin, gauge_product(basin), "discharge")
    if daily is None:
        return RecordLevels(None, thresholds.of_record([], np.empty(0, "datetime64[D]")), floods)
    statistics = thresholds.of_record(daily.values, daily.days, intervals=intervals, floods=floods)
    return RecordLevels(daily.unit, statistics, floods)


def levels_of(session: Session, basin: str) -> Iterator[BasinLevel]:
    """Yield the levels of a basin, without intervals: those that operators set, then those of its record.

    Floods are by one method.
    """
    for fixed in of_basin(session, basin):
        yield BasinLevel(
            name=fixed.name,
            kind=None,
            direction=fixed.direction,
            return_period_years=None,
            discharge=fixed.discharge,
            unit=FIXED_UNIT,
            reason=None,
            official_stage=fixed.official_stage,
        )
    record = of_record(session, basin, intervals=False)
    for statistic in record.statistics:
        for named in () if record.floods.compares(statistic) else statistic.levels:
            yield BasinLevel(
                name=named.name,
                kind=statistic.kind,
                direction=DIRECTIONS[statistic.kind],
                return_period_years=named.return_period_years,
                discharge=named.level.value,
                unit=record.unit,
                reason=None if named.level.value is not None else named.level.reason,
            )


def alert_levels(session: Session, basin: str) -> Iterator[BasinLevel]:
    """Yield the levels of a basin that can have an alert, each with a discharge."""
    for level in levels_of(session, basin):
        if level.kind == "flow-duration" or level.discharge is None:
            continue  # a level that most days exceed marks no event; a short record has no level
        if level.direction == "falling" and level.discharge == 0:
            continue  # the river dries up that often, and flow cannot fall below nothing
        yield level
