"""Alerts: the state of each level of a basin by its newest forecast."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, Select, and_, case, func, select, tuple_
from sqlalchemy.orm import Session

from hydrology.alerts import SEVERITIES, Severity, Trend, rank
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.extremes.level_checks import gravity
from hydrology.extremes.levels import Kind
from hydrology.outlook import LevelOutlook
from hydrology.uncertainty.exceedance import Direction
from records.basins import ownership, regions
from records.basins.ownership import BASINS
from records.database.base import JsonList
from records.database.stored import ANY_WORD, as_values, find, narrowed, read, stored, table_of
from records.runs.run_summary import CalibrationKind
from records.runs.run_types import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChance(LevelOutlook):
    """A level of a basin, and its exceedance probability over the window."""

    kind: Annotated[Kind | None, ANY_WORD]
    calibration: CalibrationKind


@stored(
    "alerts",
    CheckConstraint("(severity IS NULL) = (since IS NULL)", name="since"),
    CheckConstraint("chance BETWEEN 0 AND 1", name="chance"),
    Index(None, "severity"),
    key=("basin_id", "level"),
)
class Alert(LevelChance):
    """The alert state of a level.

    Attributes:
        trend: of the chance since the previous run; None without one to compare with.
        severity: None for no alert; since: when it was reached, by the service's clock.
        switches: `[on, runs]` for each step of its ladder (`hydrology.alerts`).
    """

    basin_id: Annotated[str, ForeignKey("alert_basins.basin_id")]
    trend: Trend | None
    severity: Severity | None
    since: datetime | None
    switches: JsonList
    why: str
    run_id: Annotated[str, ForeignKey("runs.id")]

    @property
    def gravity(self) -> tuple[float, ...]:
        return gravity(self.severity, self.chance, self.discharge, self.direction)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiverAlert(Alert):
    """The alert of a river, a basin and a direction: that of the level that stands for it."""

    levels: JsonList


@stored("alert_basins", key=("basin_id",))
class AlertStanding:
    """The last run that decided the alerts of a basin, or failed to.

    Attributes:
        window_days: number of days after T0 that the chances cover.
        decided_at: by the service's clock.
        reason: why it could not decide, which leaves the alerts unchanged; None if it did.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    run_id: Annotated[str, ForeignKey("runs.id")]
    version_id: Annotated[str, ForeignKey("versions.id")]
    t0: Day
    issued_at: datetime
    window_days: int
    decided_at: datetime
    reason: Absent | None

    def is_before(self, run: Run) -> bool:
        """Return whether a run is newer: by T0, then issue."""
        return (self.t0, self.issued_at, self.run_id) < run.order


ALERTS, STANDINGS = table_of(Alert), table_of(AlertStanding)
River = tuple[str, Direction]
"""A basin and a direction."""


def standing(session: Session, basin: str) -> AlertStanding | None:
    """Return the run that last decided the alerts of a basin."""
    return find(session, AlertStanding, basin_id=basin)


def standings(session: Session, names: Sequence[str]) -> dict[str, AlertStanding]:
    """Return the same for many basins; those without one are left out."""
    found = read(session, AlertStanding, select(STANDINGS).where(STANDINGS.c.basin_id.in_(names)))
    return {one.basin_id: one for one in found}


def of_basin(session: Session, basin: str) -> list[Alert]:
    return read(session, Alert, select(ALERTS).filter_by(basin_id=basin).order_by(ALERTS.c.level))


def rivers(
    session: Session,
    *,
    minimum: Severity = SEVERITIES[0],
    after: tuple[str, str] | None = None,
    limit: int | None = None,
    only: Sequence[River] | None = None,
    region: str | None = None,
) -> list[RiverAlert]:
    """Return the alerts of rivers of official basins, of all or of a region, by basin and direction."""
    river = (ALERTS.c.basin_id, ALERTS.c.direction)
    query = _official(region, *river).distinct().where(ALERTS.c.severity.in_(SEVERITIES[rank(minimum) - 1 :]))
    if only is not None:
        query = query.where(tuple_(*river).in_(only))
    if after is not None:
        query = query.where(tuple_(*river) > after)
    page = query.order_by(*river).limit(limit).subquery()
    of_page = and_(ALERTS.c.basin_id == page.c.basin_id, ALERTS.c.direction == page.c.direction)
    alerted = select(ALERTS).join(page, of_page).where(ALERTS.c.severity.is_not(None))
    found = by_river(read(session, Alert, alerted))
    return [
        RiverAlert(**as_values(of_river[0]), levels=standing_levels(of_river)) for _, of_river in sorted(found.items())
    ]


def most_urgent(session: Session, limit: int, offset: int, region: str | None = None) -> list[River]:
    """Return rivers of official basins, of all or of a region, with an alert, by severity and chance."""
    river, ranks = (ALERTS.c.basin_id, ALERTS.c.direction), {name: rank(name) for name in SEVERITIES}
    order = func.max(case(ranks, value=ALERTS.c.severity)).desc(), func.max(ALERTS.c.chance).desc(), *river
    query = _official(region, *river).group_by(*river).order_by(*order).limit(limit).offset(offset)
    return [(basin, direction) for basin, direction in session.execute(query)]


def count_rivers(session: Session, region: str | None = None) -> int:
    """Return the number of these rivers."""
    rivers = _official(region, ALERTS.c.basin_id, ALERTS.c.direction).distinct().subquery()
    return session.scalar(select(func.count()).select_from(rivers)) or 0


def _official(region: str | None, *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the query of levels with an alert in official basins, of all or of a region."""
    query = select(*columns).join(BASINS, BASINS.c.id == ALERTS.c.basin_id)
    query = query.where(ALERTS.c.severity.in_(SEVERITIES), ownership.is_official())
    return narrowed(query, (regions.holding(BASINS.c.id), region))


def by_river(levels: Iterable[Alert]) -> dict[River, list[Alert]]:
    """Return the levels with an alert by basin and direction, the one that stands for its river first."""
    found: dict[River, list[Alert]] = {}
    for alert in sorted(levels, key=lambda alert: alert.gravity, reverse=True):
        if alert.severity is not None:
            found.setdefault((alert.basin_id, alert.direction), []).append(alert)
    return found


def standing_levels(of_river: Iterable[Alert]) -> JsonList:
    """Return levels with an alert in brief, as receivers and the API get them."""
    return [
        {"level": one.level, "severity": one.severity, "chance": one.chance, "discharge_m3s": one.discharge}
        for one in of_river
    ]
