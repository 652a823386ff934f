"""Alerts: the state of each level of a basin by its newest forecast.

A run decides a basin once, in one transaction with the resulting changes and their deliveries. A run that has already
decided the basin, or that is older than the run that has, changes nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, days_between
from hydrology.base.staleness import STALE_AFTER_DAYS
from hydrology.extremes.alerting import (
    SEVERITIES,
    Decision,
    Link,
    Severity,
    Switch,
    Trend,
    decide,
    ladder,
    rank,
    trend,
)
from hydrology.extremes.thresholds import Kind
from hydrology.uncertainty.exceedance import Direction
from records.alerts import alert_changes, change_levels
from records.alerts.alert_changes import Change, ChangeKind, NewChange
from records.alerts.tables import AlertBasinRow, AlertRow
from records.basins import basins
from records.database.base import JsonList
from records.database.statements import as_record, as_values, insert_into
from records.runs import runs
from records.runs.run_summary import CalibrationKind
from records.runs.runs import Run

STAYS = "Alerts stay as they are until they can be decided."


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChance:
    """A level of a basin, and its exceedance probability over the window.

    Attributes:
        kind: the level's statistic; None for one that an operator set.
        discharge: m3/s.
        calibration: what the chance rests on.
        official_stage: m, of an official flood category; None for others.
    """

    level: str
    kind: Kind | None
    return_period_years: int | None
    direction: Direction
    discharge: float
    chance: float
    calibration: CalibrationKind
    official_stage: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(LevelChance):
    """The alert state of a level.

    Attributes:
        trend: of the chance since the previous run; None without one to compare with.
        severity: None for no alert; since: when it was reached, by the service's clock.
        switches: `[on, runs]` for each step of its ladder (`hydrology.extremes.alerting`).
        run_id: the run that decided it.
    """

    basin_id: str
    trend: Trend | None
    severity: Severity | None
    since: datetime | None
    switches: JsonList
    why: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertStanding:
    """The last run that decided the alerts of a basin, or failed to.

    Attributes:
        window_days: number of days after T0 that the chances cover.
        decided_at: by the service's clock.
        reason: why it could not decide, which leaves the alerts unchanged; None if it did.
    """

    basin_id: str
    run_id: str
    version_id: str
    t0: Day
    issued_at: datetime
    window_days: int
    decided_at: datetime
    reason: Absent | None

    def is_before(self, run: Run) -> bool:
        """Return whether a run is newer than this one."""
        return (self.t0, self.issued_at, self.run_id) < (run.t0, run.issued_at, run.id)


def settle(
    session: Session,
    basin: str,
    run: Run,
    window_days: int,
    chances: Sequence[LevelChance] | Absent,
    *,
    now: datetime,
    wall: datetime,
    replayed: bool = False,
) -> list[Change]:
    """Decide the alerts of a basin by a run, and return the changes.

    Args:
        chances: of every level of the basin, or the reason without any: then no alert begins or ends.
        now: by the service's clock; wall: by the machine's; replayed: whether `now` is an instant of the past.

    Raises:
        UnknownBasin: there is no such basin.
    """
    basins.lock(session, basin)
    before = standing(session, basin)
    if before is not None and not before.is_before(run):
        return []
    reason = chances if isinstance(chances, Absent) else None
    _stand(session, basin, run, window_days, reason, now)
    book = _Book(session, basin, run, window_days, now=now, wall=wall, replayed=replayed)
    stored = {row.level: row for row in session.scalars(select(AlertRow).filter_by(basin_id=basin))}
    could = before is not None and before.reason is None
    if isinstance(chances, Absent):
        if could:
            book.of_basin("undecided", stored.values(), f"{chances} {STAYS}")
        return book.changes
    if before is not None and not could:
        book.of_basin("decided", stored.values(), f"Before, it could not be decided: {before.reason}")
    link = _link(session, before, run, window_days)
    for gone in sorted(stored.keys() - {chance.level for chance in chances}):
        book.removed(stored[gone])
    for chance in chances:
        book.decided(chance, stored.get(chance.level), link)
    return book.changes


def lapse(
    session: Session,
    before: AlertStanding,
    reason: Absent,
    *,
    now: datetime,
    wall: datetime,
    replayed: bool = False,
) -> list[Change]:
    """Record that a basin's alerts cannot be decided without a newer run.

    Return the changes: none if a newer run has decided, or if this was recorded before.
    """
    basins.lock(session, before.basin_id)
    if standing(session, before.basin_id) != before or before.reason is not None:
        return []
    run = runs.get(session, before.run_id)
    _stand(session, before.basin_id, run, before.window_days, reason, now)
    book = _Book(session, before.basin_id, run, before.window_days, now=now, wall=wall, replayed=replayed)
    rows = session.scalars(select(AlertRow).filter_by(basin_id=before.basin_id)).all()
    book.of_basin("undecided", rows, f"{reason} {STAYS}")
    return book.changes


def standing(session: Session, basin: str) -> AlertStanding | None:
    """Return the run that last decided the alerts of a basin. None without one."""
    row = session.get(AlertBasinRow, basin, populate_existing=True)
    return None if row is None else as_record(AlertStanding, row)


def standings(session: Session, names: Sequence[str]) -> dict[str, AlertStanding]:
    """Return the same for many basins; basins without one are left out."""
    rows = session.scalars(select(AlertBasinRow).where(AlertBasinRow.basin_id.in_(names)))
    return {row.basin_id: as_record(AlertStanding, row) for row in rows}


def of_basin(session: Session, basin: str) -> list[Alert]:
    """Return the alert state of each level of a basin, by level name."""
    rows = session.scalars(select(AlertRow).filter_by(basin_id=basin).order_by(AlertRow.level))
    return [as_record(Alert, row) for row in rows]


@dataclass(frozen=True, slots=True)
class AtAGlance:
    """A level of a basin and its alert state, in brief."""

    level: str
    direction: Direction
    chance: float
    severity: Severity | None
    trend: Trend | None


def highest(session: Session) -> dict[str, list[AtAGlance]]:
    """Return by basin the levels that its status rests on: those with an alert, and the likeliest to be passed upwards.

    Basins whose levels were never decided are left out.
    """
    names = [field.name for field in fields(AtAGlance)]
    columns = [getattr(AlertRow, name) for name in names]
    order = func.row_number().over(
        partition_by=(AlertRow.basin_id, AlertRow.direction), order_by=(AlertRow.chance.desc(), AlertRow.level)
    )
    ranked = select(AlertRow.basin_id, *columns, order.label("place")).subquery()
    likeliest = (ranked.c.direction == "rising") & (ranked.c.place == 1)
    rows = session.execute(
        select(ranked.c.basin_id, *(ranked.c[name] for name in names))
        .where(ranked.c.severity.is_not(None) | likeliest)
        .order_by(ranked.c.basin_id, ranked.c.level)
    )
    levels: dict[str, list[AtAGlance]] = {}
    for basin, *values in rows:
        levels.setdefault(basin, []).append(AtAGlance(*values))
    return levels


def active(
    session: Session,
    *,
    minimum: Severity = SEVERITIES[0],
    after: tuple[str, str] | None = None,
    limit: int | None = None,
) -> list[Alert]:
    """Return the alerts of all basins, by basin and level.

    Args:
        after: the last basin and level of the previous page.
    """
    query = select(AlertRow).where(AlertRow.severity.in_(SEVERITIES[rank(minimum) - 1 :]))
    if after is not None:
        basin, level = after
        query = query.where((AlertRow.basin_id > basin) | ((AlertRow.basin_id == basin) & (AlertRow.level > level)))
    rows = session.scalars(query.order_by(AlertRow.basin_id, AlertRow.level).limit(limit))
    return [as_record(Alert, row) for row in rows]


def promoted(session: Session, basin: str, before: str, version: str, at: datetime) -> None:
    """Record that a basin's forecasts now come from another version.

    Nothing is recorded if no run has decided its alerts yet. The alerts stay as they are. The new version's next run
    starts the count of runs again.
    """
    if standing(session, basin) is None:
        return
    rows = session.scalars(select(AlertRow).filter_by(basin_id=basin)).all()
    highest = _highest(rows)
    alert_changes.record(
        session,
        NewChange(
            kind="promotion",
            at=at,
            basin_id=basin,
            severity=highest,
            severity_before=highest,
            version_id=version,
            why=f"From now on, forecasts come from version {version}, no longer from {before}. The river has not "
            "changed: from the next run on, chances may differ because of the version, and runs are counted again.",
        ),
        at,
    )


def _link(session: Session, before: AlertStanding | None, run: Run, window_days: int) -> Link:
    if before is None or before.reason is not None:
        return "anew"
    comparable = (before.version_id, before.window_days) == (run.version_id, window_days)
    gap = days_between(runs.get(session, before.run_id).weather_until, run.weather_until)
    if not comparable or gap > STALE_AFTER_DAYS:
        return "anew"
    return "next" if gap > 0 else "again"


def _stand(session: Session, basin: str, run: Run, window_days: int, reason: Absent | None, now: datetime) -> None:
    values = {
        "run_id": run.id,
        "version_id": run.version_id,
        "t0": run.t0,
        "issued_at": run.issued_at,
        "window_days": window_days,
        "decided_at": now,
        "reason": reason,
    }
    insert = insert_into(session, AlertBasinRow).values(basin_id=basin, **values)
    session.execute(insert.on_conflict_do_update(index_elements=["basin_id"], set_=values))


def _highest(rows: Iterable[AlertRow]) -> Severity | None:
    return max((as_record(Alert, row).severity for row in rows), key=rank, default=None)


@dataclass(slots=True)
class _Book:
    """Records the alert states of a basin's levels after a run, and the changes."""

    session: Session
    basin: str
    run: Run
    window_days: int
    now: datetime
    wall: datetime
    replayed: bool
    changes: list[Change] = field(default_factory=list)

    def of_basin(self, kind: ChangeKind, rows: Iterable[AlertRow], why: str) -> None:
        """Record a change of the whole basin, with its highest severity."""
        highest = _highest(rows)
        self._record(kind, why, severity=highest, severity_before=highest)

    def removed(self, row: AlertRow) -> None:
        """Delete a level that the basin has no more, and end its alert."""
        alert = as_record(Alert, row)
        if alert.severity is not None:
            self._record("level", f"{alert.level} has been removed from {self.basin}.", alert, severity=None)
        self.session.delete(row)
        self.session.flush()

    def decided(self, chance: LevelChance, row: AlertRow | None, link: Link) -> None:
        """Decide a level."""
        before = None if row is None else as_record(Alert, row)
        if before is not None and _was_set_anew(before, chance):
            before, link = self._set_anew(before, chance), "anew"
        was = [] if before is None else [Switch(*switch) for switch in before.switches]
        decision = decide(ladder(chance.return_period_years), was, chance.chance, "anew" if before is None else link)
        severity_before = None if before is None else before.severity
        alert = Alert(
            **as_values(chance),
            basin_id=self.basin,
            trend=None if before is None or link == "anew" else trend(chance.chance, before.chance),
            severity=decision.severity,
            since=self._since(before, decision),
            switches=[[switch.on, switch.runs] for switch in decision.switches],
            why=decision.why,
            run_id=self.run.id,
        )
        self.session.merge(AlertRow(**as_values(alert)))
        self.session.flush()
        if decision.turn is not None:
            before_chance = None if before is None else before.chance
            self._record(
                decision.turn, decision.why, alert, severity_before=severity_before, chance_before=before_chance
            )

    def _since(self, before: Alert | None, decision: Decision) -> datetime | None:
        if decision.severity is None:
            return None
        return before.since if before is not None and decision.turn is None else self.now

    def _set_anew(self, before: Alert, chance: LevelChance) -> Alert | None:
        """Record that an operator set a level with an alert to another flow. Return its present state.

        A level whose direction was reversed counts as another level.
        """
        turned = before.direction != chance.direction
        if before.severity is not None:
            ended = ", the other way: its alert ends" if turned else ". Runs are counted again"
            why = f"{before.level} was set from {before.discharge:.6g} to {chance.discharge:.6g} m3/s{ended}."
            severity = None if turned else before.severity
            self._record("level", why, before, discharge=chance.discharge, severity=severity)
        return None if turned else before

    def _record(self, kind: ChangeKind, why: str, alert: Alert | None = None, **fields: Any) -> None:
        of_level: dict[str, Any] = {}
        if alert is not None:
            named = ("level", "direction", "discharge", "severity", "chance", "trend")
            of_level = {name: getattr(alert, name) for name in named} | {"severity_before": alert.severity}
            flow = fields.get("discharge", alert.discharge)
            of_level |= change_levels.of(self.session, self.basin, alert.level, flow, self.now)
        new = NewChange(
            **{
                "kind": kind,
                "at": self.now,
                "basin_id": self.basin,
                "window_days": self.window_days,
                "run_id": self.run.id,
                "t0": self.run.t0,
                "version_id": self.run.version_id,
                "why": why,
                "replayed": self.replayed,
                **of_level,
                **fields,
            }
        )
        change = alert_changes.record(self.session, new, self.wall)
        if change is not None:
            self.changes.append(change)


def _was_set_anew(before: Alert, chance: LevelChance) -> bool:
    """Return whether an operator changed a level.

    Levels of the record move slightly as the record grows, and those of an official stage with each rating.
    """
    pair = (before.official_stage, chance.official_stage)
    was, now = (before.discharge, chance.discharge) if None in pair else pair
    assert was is not None
    assert now is not None
    same = before.direction == chance.direction and math.isclose(was, now, rel_tol=1e-9)
    return chance.kind is None and not same
