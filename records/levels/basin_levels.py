"""Levels of a basin's discharge: those that operators set, those of its record, and how its floods are analysed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import numpy as np
from sqlalchemy import CheckConstraint, Column, ForeignKey, String, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, day
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import DISCHARGE
from hydrology.base.series import DailySeries
from hydrology.extremes import levels
from hydrology.extremes.expected_moments import RegionalSkew
from hydrology.extremes.level_checks import LevelText
from hydrology.extremes.levels import BY_DEFAULT, FloodFrequency
from hydrology.extremes.return_periods import ReturnPeriods
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import FLOW_SIZES, HIGHEST, STAGE_SIZES, CategoryName, FloodFrequencySettings, NewThreshold
from records.basins import basins, ratings
from records.database.base import FreeText, Instant, Real
from records.database.stored import as_record, as_values, find_row, grouped, stored, table_of, upsert
from records.series import series
from records.series.year_rows import DamagedSeries

Change = Literal["new", "changed", "unchanged"]
DIRECTIONS: dict[levels.Kind, Direction] = {
    **dict.fromkeys(("frequent-flood", "flood"), "rising"),
    **dict.fromkeys(("low-flow", "flow-duration"), "falling"),
}
"""The direction in which flow passes the levels of a record."""
MAX_LEVELS = 32
"""Maximum number of levels that are set for a basin: each can change, and be sent, with every run."""
FIXED_UNIT = "m3/s"
"""Unit of the levels that operators set."""


class UnknownLevel(NotFound):
    """The basin has no level of this name that an operator set."""

    kind = "unknown-threshold"


class ReservedName(InvalidInput):
    """The name belongs to a level of the basin's record, or of a version."""


class TooManyLevels(InvalidInput):
    """The basin has as many levels as it may."""

    status = 409
    remedy = "Remove a level first."


@stored(
    "thresholds",
    Column("basin_id", String, ForeignKey("basins.id")),
    # Null of an official category that neither the rating nor its file's flow gives one: no level until one does.
    Column("discharge", Real),
    CheckConstraint("discharge > 0", name="discharge"),
    CheckConstraint("discharge IS NOT NULL OR category IS NOT NULL", name="known"),
    key=("basin_id", "name"),
)
class SetLevel:
    """A level that an operator set, or an official flood category.

    Attributes:
        discharge: m3/s.
        set_at: when its value was last changed, by the service's clock.
        category, source, source_day: of an official flood category, who declared it, and when; None for others.
        official_stage, official_flow: m and m3/s, as the category's source has them. The discharge follows the stage by
            the basin's rating where that covers it, and otherwise is the flow.
        impact: what happens from it on; instruction: what to do then.
        confirmed: the discharge at which somebody confirmed it, m3/s.
    """

    name: str
    discharge: float
    direction: Direction
    set_at: datetime
    category: CategoryName | None = None
    source: FreeText | None = None
    source_day: Day | None = None
    official_stage: float | None = None
    official_flow: float | None = None
    impact: FreeText | None = None
    instruction: FreeText | None = None
    confirmed: float | None = None


@stored(
    "flood_frequency",
    Column("basin_id", String, ForeignKey("basins.id")),
    Column("set_at", Instant, nullable=False),
    CheckConstraint("(regional_skew IS NULL) = (regional_skew_error IS NULL)", name="skew"),
    CheckConstraint("regional_skew_error > 0", name="error"),
    key=("basin_id",),
)
class StoredFloodFrequency:
    """How the floods of a basin's record are analysed."""

    regional_skew: Annotated[
        float | None, Doc("Null: the record's own skew alone."), Why("None was set: the record's own skew is used.")
    ]
    regional_skew_error: Annotated[
        float | None, Doc("Mean square error of the regional skew."), Why("No regional skew was set.")
    ]
    trend_adjusted: Annotated[bool, Doc("Whether floods are adjusted where their trend is significant.")]
    set_at: Annotated[
        datetime | None, Doc("By the service's clock; null where it was never set."), Why("It was never set.")
    ]

    def as_asked(self) -> FloodFrequency:
        if self.regional_skew is None or self.regional_skew_error is None:
            return FloodFrequency(None, self.trend_adjusted)
        return FloodFrequency(RegionalSkew(self.regional_skew, self.regional_skew_error), self.trend_adjusted)


@stored(
    "former_categories",
    Column("basin_id", String, ForeignKey("basins.id")),
    Column("discharge", Real),
    key=("basin_id", "name", "until"),
)
class FormerCategory(SetLevel):
    """An official flood category as it was until a rating or its source changed it, at an instant of the service."""

    until: datetime


SET_LEVELS, FLOOD_FREQUENCY = table_of(SetLevel), table_of(StoredFloodFrequency)
FORMER = table_of(FormerCategory)


@dataclass(frozen=True, slots=True)
class RecordLevels:
    """The levels of a basin's record of discharge; `unit` is that of all, None without a record."""

    unit: str | None
    statistics: Sequence[levels.Statistic]
    floods: levels.FloodFrequency


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinLevel:
    """A level of a basin, of its record or set by an operator.

    Attributes:
        kind: the level's statistic; None for one that an operator set.
        discharge: in `unit`; official_stage: m, of an official flood category, None for others.
    """

    name: str
    kind: levels.Kind | None
    direction: Direction
    return_period_years: float | None
    discharge: float | None
    unit: str | None
    reason: Absent | None
    official_stage: float | None = None


@dataclass(frozen=True, slots=True)
class BasinLevels:
    """The levels of a basin, and the return periods of flows in `unit` (that of its record) by the same fits."""

    levels: list[BasinLevel]
    unit: str | None
    return_periods: ReturnPeriods | Absent


def put(session: Session, basin: str, new: NewThreshold, at: datetime) -> Change:
    """Set a level of a basin. Repeating it writes nothing; an official category becomes an operator's level."""
    basins.lock(session, basin)
    if new.name.removeprefix(levels.OF_MODEL) in levels.names():
        raise ReservedName(f"{new.name} is the name of a computed level: choose another name.")
    row = find_row(session, SET_LEVELS, basin_id=basin, name=new.name)
    if row is None and len(of_basin(session, basin)) >= MAX_LEVELS:
        raise TooManyLevels(f"{basin} has {MAX_LEVELS} levels, the maximum: remove one first.")
    given = new.model_dump(exclude={"unit"}) | {"discharge": _in_m3s(session, basin, new, at)}
    if row is not None and row.category is None and all(getattr(row, name) == value for name, value in given.items()):
        return "unchanged"
    confirmed = row.confirmed if row is not None and row.direction == new.direction else None
    level = SetLevel(**given, set_at=at, confirmed=confirmed)
    upsert(session, SetLevel, [{"basin_id": basin} | as_values(level)])
    return "new" if row is None else "changed"


def _in_m3s(session: Session, basin: str, new: NewThreshold, at: datetime) -> float:
    """Return the discharge of a new level, that of a stage by the basin's rating of the day."""
    flow: float | Absent = new.discharge * FLOW_SIZES.get(new.unit, 1)
    if new.unit in STAGE_SIZES:
        flow = ratings.require(session, basin, day(at.date())).rating.flow_at(new.discharge * STAGE_SIZES[new.unit])
    if isinstance(flow, Absent) or flow > HIGHEST:
        why = flow if isinstance(flow, Absent) else f"{flow:.4g} m³/s is above {HIGHEST:g}: correct it or its unit."
        raise InvalidInput(f"{new.name}: {why}")
    return flow


def get(session: Session, basin: str, name: str) -> SetLevel:
    basins.require(session, basin)
    level = next((level for level in of_basin(session, basin) if level.name == name), None)
    if level is None:
        raise UnknownLevel(
            f"Nobody set a level {name[:64]!r} of {basin}: list the basin's thresholds to see their names."
        )
    return level


def of_basin(session: Session, basin: str) -> list[SetLevel]:
    """Return the levels that operators set, by name; categories without a discharge are left out."""
    return of_basins(session, [basin]).get(basin, [])


def of_basins(session: Session, names: Sequence[str]) -> dict[str, list[SetLevel]]:
    """Return the same of many basins; those without one are left out."""
    known = select(SET_LEVELS).where(SET_LEVELS.c.basin_id.in_(names), SET_LEVELS.c.discharge.is_not(None))
    rows = session.execute(known.order_by(SET_LEVELS.c.name))
    return grouped((row.basin_id, as_record(SetLevel, row)) for row in rows)


def formerly(session: Session, basin: str, at: datetime) -> dict[str, SetLevel]:
    """Return the official categories that have changed since an instant as they were then, by name."""
    later = select(FORMER).where(FORMER.c.basin_id == basin, FORMER.c.until > at).order_by(FORMER.c.until.desc())
    return {row.name: as_record(SetLevel, row) for row in session.execute(later)}


def texts(session: Session, names: Sequence[str]) -> dict[str, dict[str, LevelText]]:
    """Return what is stated of levels, by basin and level; levels of which nothing is stated are left out."""
    level = SET_LEVELS.c
    is_stated = or_(level.impact.is_not(None), level.instruction.is_not(None))
    query = select(level.basin_id, level.name, level.impact, level.instruction)
    stated: dict[str, dict[str, LevelText]] = {}
    for basin, name, *text in session.execute(query.where(level.basin_id.in_(names), is_stated)):
        stated.setdefault(basin, {})[name] = LevelText(*text)
    return stated


def remove(session: Session, basin: str, name: str) -> None:
    get(session, basin, name)
    session.execute(SET_LEVELS.delete().filter_by(basin_id=basin, name=name))


def flood_frequencies(session: Session, names: Sequence[str]) -> dict[str, StoredFloodFrequency]:
    usual = StoredFloodFrequency(
        regional_skew=None, regional_skew_error=None, trend_adjusted=BY_DEFAULT.trend_adjusted, set_at=None
    )
    rows = session.execute(select(FLOOD_FREQUENCY).where(FLOOD_FREQUENCY.c.basin_id.in_(names)))
    return dict.fromkeys(names, usual) | {row.basin_id: as_record(StoredFloodFrequency, row) for row in rows}


def put_flood_frequency(session: Session, basin: str, new: FloodFrequencySettings, at: datetime) -> bool:
    """Set how a basin's floods are analysed; return whether that changed anything."""
    basins.lock(session, basin)
    before = flood_frequencies(session, [basin])[basin]
    if FloodFrequencySettings.model_validate({name: getattr(before, name) for name in type(new).model_fields}) == new:
        return False
    upsert(session, StoredFloodFrequency, [{"basin_id": basin, "set_at": at} | new.model_dump()])
    return True


def of_record(session: Session, basin: str) -> RecordLevels:
    """Return the levels of a basin's record, with intervals, and floods by both methods."""
    daily = series.read(session, basin, gauge_product(basin), DISCHARGE)
    return _of_record(daily, flood_frequencies(session, [basin])[basin].as_asked(), intervals=True)


def _of_record(daily: DailySeries | None, floods: FloodFrequency, *, intervals: bool) -> RecordLevels:
    if daily is None:
        none = levels.of_record([], np.empty(0, "datetime64[D]"), intervals=intervals, floods=floods)
        return RecordLevels(None, none, floods)
    of_days = levels.of_record(daily.values, daily.days, intervals=intervals, floods=floods)
    return RecordLevels(daily.unit, of_days, floods)


def levels_of(session: Session, basin: str, at: datetime | None = None) -> list[BasinLevel]:
    """Return the levels of a basin, without intervals: those that operators set, then those of its record. Floods are
    by one method; official categories as they were at an instant, by default as they are."""
    ((_, found),) = levels_of_many(session, [basin], at)
    if isinstance(found, DamagedSeries):
        raise found
    return found.levels


def levels_of_many(
    session: Session, names: Sequence[str], at: datetime | None = None
) -> Iterator[tuple[str, BasinLevels | DamagedSeries]]:
    """Yield basins with their levels as `levels_of` returns them, or with what is damaged of their record."""
    fixed, floods = of_basins(session, names), flood_frequencies(session, names)
    if at is not None:
        for basin in names:
            then = {level.name: level for level in fixed.get(basin, ())} | formerly(session, basin, at)
            fixed[basin] = [then[name] for name in sorted(then) if then[name].discharge is not None]
    for basin, daily in series.read_variable(session, names, DISCHARGE):
        if isinstance(daily, DamagedSeries):
            yield basin, daily
        else:
            record = _of_record(daily, floods[basin].as_asked(), intervals=False)
            periods = ReturnPeriods.of(record.statistics, record.floods)
            yield basin, BasinLevels([*_levels(fixed.get(basin, []), record)], record.unit, periods)


def _levels(fixed: Sequence[SetLevel], record: RecordLevels) -> Iterator[BasinLevel]:
    for one in fixed:
        yield as_record(BasinLevel, one, kind=None, return_period_years=None, unit=FIXED_UNIT, reason=None)
    for statistic in record.statistics:
        for named in statistic.levels:
            yield BasinLevel(
                name=named.name,
                kind=statistic.kind,
                direction=DIRECTIONS[statistic.kind],
                return_period_years=named.return_period_years,
                discharge=named.level.value,
                unit=record.unit,
                reason=None if named.level.value is not None else named.level.reason,
            )


def alert_levels(found: Sequence[BasinLevel]) -> Iterator[BasinLevel]:
    """Yield the levels that can have an alert, each with a discharge."""
    for level in found:
        if level.kind in ("frequent-flood", "flow-duration") or level.discharge is None:
            continue  # what flow passes in most years, or on most days, marks no event; a short record has no level
        if level.direction == "falling" and level.discharge == 0:
            continue  # the river dries up that often, and flow cannot fall below nothing
        yield level
