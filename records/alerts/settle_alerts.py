"""Settles the alerts of a basin by a run, in one transaction with the changes and their deliveries.

A run that has already decided the basin, or that is older than the run that has, changes nothing; but a forecaster's
adjustment of the run, or approval of levels that were in doubt, decides again.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.alerts import Decision, Link, Severity, Switch, decide, ladder, rank, trend
from hydrology.base.absent import Absent
from hydrology.base.calendar import STALE_AFTER_DAYS, day, days_between
from hydrology.extremes.level_checks import advice_of, reach
from hydrology.uncertainty.exceedance import Direction
from records.alerts import alert_changes, alerts, held_alerts
from records.alerts.alert_changes import Change, ChangeKind, NewChange
from records.alerts.alerts import ALERTS, Alert, AlertStanding, LevelChance, standing
from records.basins import basins, ratings
from records.database.stored import as_record, as_values, grouped, upsert
from records.levels import basin_levels
from records.levels.basin_levels import SET_LEVELS
from records.runs import runs
from records.runs.run_types import Run
from runtime.clock import Clock

STAYS = "Alerts stay as they are until they can be decided."


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDecision:
    """What a person contributes to a decision. Alerts of `levels`, whose chance the person set or that the person
    confirmed, are decided at once."""

    sentence: str
    by: str | None = None
    adjustment_id: str | None = None
    levels: frozenset[str] = frozenset()


class DecisionTime(NamedTuple):
    """When alerts are decided: by the service's clock (`now`) and the machine's, and whether `now` is of the past."""

    now: datetime
    wall: datetime
    replayed: bool = False

    @classmethod
    def by(cls, clock: Clock) -> Self:
        return cls(clock.now(), clock.wall(), clock.replays)


def settle(
    session: Session,
    basin: str,
    run: Run,
    window_days: int,
    chances: Sequence[LevelChance] | Absent,
    at: DecisionTime,
    *,
    judgement: AlertDecision | None = None,
    waiting: Collection[str] = (),
) -> list[Change]:
    """Decide the alerts of a basin by a run, and return the changes.

    Args:
        waiting: levels in doubt, whose alerts stay as they are.
        chances: of every level of the basin, or the reason without any: then no alert begins or ends.
    """
    basins.lock(session, basin)
    before = standing(session, basin)
    judged = judgement is not None and (judgement.adjustment_id is not None or bool(judgement.levels))
    again = judged and before is not None and before.run_id == run.id
    if before is not None and not before.is_before(run) and not again:
        return []
    book = _Book(session, basin, run, window_days, at, judgement)
    book.stand(chances if isinstance(chances, Absent) else None)
    stored = {alert.level: alert for alert in book.levels}
    could = before is not None and before.reason is None
    if isinstance(chances, Absent):
        if could:
            book.of_basin("undecided", stored.values(), f"{chances} {STAYS}")
        return book.store()
    if before is not None and not could:
        book.of_basin("decided", stored.values(), f"Before, it could not be decided: {before.reason}")
    link = _link(session, before, run, window_days)
    for gone in sorted(stored.keys() - {chance.level for chance in chances} - {*waiting}):
        book.ended(stored[gone], "level", f"{gone} has been removed from {basin}.")
    for chance in chances:
        if chance.level not in waiting:
            book.decided(chance, stored.get(chance.level), link)
    return book.store()


def lapse(session: Session, before: AlertStanding, reason: Absent, at: DecisionTime) -> list[Change]:
    """Record once that a basin's alerts need a newer run, unless there is one; return the changes."""
    basins.lock(session, before.basin_id)
    if standing(session, before.basin_id) != before or before.reason is not None:
        return []
    book = _Book(session, before.basin_id, runs.get(session, before.run_id), before.window_days, at)
    book.stand(reason)
    book.of_basin("undecided", book.levels, f"{reason} {STAYS}")
    return book.store()


def dismiss(session: Session, basin: str, run: Run, window_days: int, at: DecisionTime) -> list[Change]:
    """Record that a run has decided a basin's alerts as a person ruled: they stay as they are. Return the change that
    they can be decided again, if they could not before. A run that is not newer than the last changes nothing."""
    basins.lock(session, basin)
    before = standing(session, basin)
    if before is not None and not before.is_before(run):
        return []
    book = _Book(session, basin, run, window_days, at)
    book.stand(None)
    if before is not None and before.reason is not None:
        book.of_basin("decided", book.levels, f"Before, it could not be decided: {before.reason}")
    return book.store()


def restart(session: Session, basin: str, why: str, at: DecisionTime) -> list[Change]:
    """End the alerts of a basin until its next run; drop those that wait for approval. Return the changes."""
    basins.lock(session, basin)
    held_alerts.release(session, basin)
    before = standing(session, basin)
    if before is None:
        return []
    book = _Book(session, basin, runs.get(session, before.run_id), before.window_days, at)
    for alert in book.levels:
        book.ended(alert, "ends", why)
    return book.store()


def promoted(session: Session, basin: str, before: str, version: str, at: datetime) -> None:
    """Record that a basin's forecasts now come from another version. Nothing is recorded if no run has decided its
    alerts. They stay as they are; the new version's next run starts the count of runs again."""
    if standing(session, basin) is None:
        return
    highest = _highest(alerts.of_basin(session, basin))
    change = NewChange(
        kind="promotion",
        at=at,
        basin_id=basin,
        severity=highest,
        severity_before=highest,
        version_id=version,
        why=f"From now on, forecasts come from version {version}, no longer from {before}. The river has not "
        "changed: from the next run on, chances may differ because of the version, and runs are counted again.",
    )
    alert_changes.record_message(session, [change], at)


def _link(session: Session, before: AlertStanding | None, run: Run, window_days: int) -> Link:
    if before is None or before.reason is not None:
        return "anew"
    comparable = (before.version_id, before.window_days) == (run.version_id, window_days)
    gap = days_between(runs.get(session, before.run_id).weather_until, run.weather_until)
    if not comparable or gap > STALE_AFTER_DAYS:
        return "anew"
    return "next" if gap > 0 else "again"


def _highest(levels: Iterable[Alert]) -> Severity | None:
    return max((alert.severity for alert in levels), key=rank, default=None)


@dataclass(slots=True)
class _Book:
    session: Session
    basin: str
    run: Run
    window_days: int
    at: DecisionTime
    judgement: AlertDecision | None = None
    changes: list[NewChange] = field(default_factory=list)
    decisions: list[Alert] = field(default_factory=list)
    levels: list[Alert] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = alerts.of_basin(self.session, self.basin)

    def store(self) -> list[Change]:
        """Store the alerts and the changes, those of a river as one message, and return the changes."""
        upsert(self.session, Alert, [as_values(alert) for alert in self.decisions])
        if not self.changes:
            return []
        levels = alerts.of_basin(self.session, self.basin)
        before, after, stored = _of_rivers(self.levels), _of_rivers(levels), list[Change]()
        texts = basin_levels.texts(self.session, [self.basin]).get(self.basin, {})
        for direction, changes in grouped((one.direction, one) for one in self.changes).items():
            if direction is None:
                for change in changes:
                    stored += alert_changes.record_message(self.session, [change], self.at.wall)
                continue
            was, now = before.get(direction, []), after.get(direction, [])
            advice = [asdict(one) for one in advice_of((one for one in levels if one.direction == direction), texts)]
            changes = [replace(one, levels=alerts.standing_levels(now), advice=advice) for one in changes]
            stored += alert_changes.record_message(
                self.session, changes, self.at.wall, sent=_is_news(changes, was, now)
            )
        return stored

    def stand(self, reason: Absent | None) -> None:
        standing = as_record(
            AlertStanding,
            self.run,
            basin_id=self.basin,
            run_id=self.run.id,
            window_days=self.window_days,
            decided_at=self.at.now,
            reason=reason,
        )
        upsert(self.session, AlertStanding, [as_values(standing)])

    def of_basin(self, kind: ChangeKind, levels: Iterable[Alert], why: str) -> None:
        highest = _highest(levels)
        self._record(kind, why, severity=highest, severity_before=highest)

    def ended(self, alert: Alert, kind: ChangeKind, why: str) -> None:
        if alert.severity is not None:
            self._record(kind, why, alert, severity=None)
        self.session.execute(ALERTS.delete().filter_by(basin_id=self.basin, level=alert.level))

    def decided(self, chance: LevelChance, before: Alert | None, link: Link) -> None:
        if before is not None and _was_set_anew(before, chance):
            before, link = self._set_anew(before, chance), "anew"
        was = [] if before is None else [Switch(*switch) for switch in before.switches]
        counted: Link = "anew" if before is None else link
        judged = self.judgement is not None and chance.level in self.judgement.levels
        decision = decide(ladder(chance.return_period_years), was, chance.chance, "judged" if judged else counted)
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
        self.decisions.append(alert)
        if decision.turn is not None:
            before_chance = None if before is None else before.chance
            self._record(
                decision.turn, decision.why, alert, severity_before=severity_before, chance_before=before_chance
            )

    def _since(self, before: Alert | None, decision: Decision) -> datetime | None:
        if decision.severity is None:
            return None
        return before.since if before is not None and decision.turn is None else self.at.now

    def _set_anew(self, before: Alert, chance: LevelChance) -> Alert | None:
        """Record that an operator set a level to another flow; None where it was reversed, as another level."""
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
            of_level |= _level_facts(self.session, self.basin, alert.level, flow, self.at.now)
        judgement = self.judgement or AlertDecision(sentence="")
        new = NewChange(
            **{
                "kind": kind,
                "at": self.at.now,
                "basin_id": self.basin,
                "window_days": self.window_days,
                "run_id": self.run.id,
                "t0": self.run.t0,
                "version_id": self.run.version_id,
                "why": f"{why} {judgement.sentence}".rstrip(),
                "decided_by": judgement.by,
                "adjustment_id": judgement.adjustment_id,
                "replayed": self.at.replayed,
                **of_level,
                **fields,
            }
        )
        self.changes.append(new)


def _of_rivers(levels: Iterable[Alert]) -> dict[Direction, list[Alert]]:
    return {direction: of_river for (_, direction), of_river in alerts.by_river(levels).items()}


def _is_news(changes: Sequence[NewChange], was: Sequence[Alert], now: Sequence[Alert]) -> bool:
    """Return whether changes are sent: of the level that stands for a river, or of one further out."""
    if not was or not now:
        return True
    leading, furthest = {was[0].level, now[0].level}, reach(now[0].discharge, now[0].direction)
    return any(
        change.level in leading or reach(change.discharge or 0.0, now[0].direction) > furthest for change in changes
    )


def _was_set_anew(before: Alert, chance: LevelChance) -> bool:
    """Return whether an operator changed a level. A growing record, or a new rating, moves levels slightly."""
    pair = (before.official_stage, chance.official_stage)
    was, now = (before.discharge, chance.discharge) if None in pair else pair
    assert was is not None
    assert now is not None
    same = before.direction == chance.direction and math.isclose(was, now, rel_tol=1e-9)
    return chance.kind is None and not same


def _level_facts(session: Session, basin: str, level: str, discharge: float, at: datetime) -> dict[str, Any]:
    """Return stage (m, official or by the rating), category and impact of a level, each None if unknown."""
    columns = (SET_LEVELS.c[name] for name in ("official_stage", "category", "impact"))
    row = session.execute(select(*columns).filter_by(basin_id=basin, name=level)).one_or_none()
    stage, category, impact = row or (None, None, None)
    stored = ratings.newest(session, basin, day(at.date()))
    if stage is None and stored is not None:
        by_rating = float(stored.rating.stage(discharge))
        stage = None if math.isnan(by_rating) else by_rating
    return {"stage": stage, "category": category, "impact": impact}
