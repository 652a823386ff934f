"""Decides the alerts of basins: by their latest forecasts, and by what forecasters decided.

A stale forecast decides nothing. A forecast decides once only, and the next cycle decides what an interrupted one left
undecided. Where alerts need approval, changes are held until somebody decides, or until the deadline. Where no newer
forecast comes, the alerts stay as they are and are reported as resting on a stale forecast.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import age_days, stale
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from records.access import audit
from records.access.audit import Actor
from records.alerts import alerts, held_alerts, settle_alerts
from records.alerts.alert_changes import Change
from records.alerts.held_alerts import HeldAlerts
from records.alerts.settle_alerts import AlertDecision, DecisionTime
from records.basins import basins
from records.database.work import Work
from records.forecasts import adjustments, latest
from records.forecasts.latest import Latest
from records.levels import categories_and_doubts
from records.outlooks.outlooks import RunChances, read_chances
from records.runs import runs
from records.runs.run_types import Run, RunBasin
from records.runs.tables import Adjustment
from runtime.clock import Clock

log = structlog.get_logger()

DEADLINE = Actor("deadline of approval")
SERVICE = Actor("service")
AT_A_TIME = 50
"""Number of basins whose latest forecasts are read together."""
_SHOWN = ("kind", "level", "severity", "severity_before", "discharge_m3s", "chance")
"""What a forecaster decides on: the fields that a proposal must still have when it is approved."""


def carry_out(work: Work, basin: str | None = None) -> list[Change]:
    """Settle what forecasters decided and what waited until its deadline, one transaction each.

    What rests on a forecast that is stale, or of a version that is no longer current, is withdrawn. Repeating it
    changes nothing.
    """
    with work.database.reading() as session:
        published, due = adjustments.undecided(session, basin), held_alerts.due(session, work.clock.wall(), basin)
    waiting: list[Adjustment | HeldAlerts] = [*due, *published]  # a ruling before an adjustment of a newer run
    changes: list[Change] = []
    for one in waiting:
        try:
            if isinstance(one, Adjustment):
                changes += _carry_out_adjustment(work, one)
            else:
                changes += _carry_out_held(work, one)
        except Problem as problem:  # of this basin alone: the others go on
            _withdraw(work, one, str(problem))
    return changes


def settle_run(
    session: Session,
    clock: Clock,
    found: RunChances,
    judgement: AlertDecision | None = None,
    waiting: Collection[str] = (),
) -> list[Change]:
    """Settle a basin's alerts by a run with its published adjustment; those of `waiting` levels stay."""
    if (own := found.adjustment) is not None:
        judgement = AlertDecision(
            sentence=_sentence(f"Adjusted by {own.publisher}", own.words, own.note),
            by=own.publisher,
            adjustment_id=own.id,
            levels=frozenset(own.chances),
        )
    return settle_alerts.settle(
        session,
        found.basin_id,
        found.run,
        found.window_days,
        found.chances,
        DecisionTime.by(clock),
        judgement=judgement,
        waiting=waiting,
    )


def levels_in_doubt(session: Session, clock: Clock, found: RunChances) -> set[str]:
    """Return the levels of a basin that seem wrong, but for those that its published adjustment judges."""
    judged = () if found.adjustment is None else found.adjustment.chances
    return {*categories_and_doubts.in_doubt(session, found.basin_id, clock.today())} - {*judged}


def settle_but_doubts(
    session: Session, clock: Clock, found: RunChances, judgement: AlertDecision | None = None
) -> list[Change]:
    """Settle a basin's alerts by a run, and hold the changes of levels in doubt until somebody decides."""
    doubts = levels_in_doubt(session, clock, found)
    changes = settle_run(session, clock, found, judgement, doubts)
    if not doubts:
        return changes
    as_judged = _proposed(session, clock, found, AlertDecision(sentence="", levels=frozenset(doubts)))
    if proposed := [change for change in as_judged if change.level in doubts]:
        held_alerts.hold(session, found.basin_id, found.run.id, proposed, clock.wall(), None)
        log.warning("alerts.in_doubt", basin=found.basin_id, run=found.run.id, levels=sorted(doubts))
    return changes


def read_published(session: Session, forecasts: Sequence[tuple[Run, RunBasin]]) -> dict[str, RunChances]:
    """Return the chances of basins' levels by their runs, as the newest adjustments of forecasters have them."""
    keys = [(run.id, basin.basin_id) for run, basin in forecasts]
    return read_chances(session, forecasts, latest.forecasters_adjustments(session, keys))


def _carry_out_adjustment(work: Work, adjustment: Adjustment) -> list[Change]:
    basin = adjustment.basin_id
    with work.database.reading() as session:
        newest = _fresh(session, work.clock, [basin]).get(basin)
        found = None
        if newest is not None and newest.run.id == adjustment.run_id:
            followed = {(newest.run.id, basin): adjustment}
            found = read_chances(session, [(newest.run, newest.basin)], followed)[basin]
    if found is None:
        return _withdraw(work, adjustment, "The forecast is stale, or no longer the latest.")
    with work.database.transaction() as session:
        basins.lock(session, basin)
        if adjustments.get(session, adjustment.id).alerts_at is not None:
            return []  # another process has carried it out
        adjustments.mark_decided(session, adjustment.id, work.clock.wall())
        held = held_alerts.find(session, basin)
        if held is not None and runs.get(session, held.run_id).order <= found.run.order:
            held_alerts.release(session, basin)
            if held.run_id != adjustment.run_id:
                replaced = {"run": held.run_id, "reason": "A forecaster has adjusted a newer forecast."}
                audit.record(session, SERVICE, "alerts withdrawn", basin, work.clock.wall(), **replaced)
        return settle_but_doubts(session, work.clock, found)


def _carry_out_held(work: Work, held: HeldAlerts) -> list[Change]:
    basin = held.basin_id
    with work.database.reading() as session:
        newest, run = _fresh(session, work.clock, [basin]).get(basin), runs.get(session, held.run_id)
        found = read_published(session, [(run, runs.basin_of(session, run.id, basin))])[basin]
    if newest is None or newest.run.version_id != run.version_id:
        return _withdraw(work, held, "The forecast is stale, or of a version that is no longer current.")
    with work.database.transaction() as session:
        basins.lock(session, basin)
        if held_alerts.find(session, basin) != held:
            return []  # another process has carried it out, or somebody has decided since
        held_alerts.release(session, basin)
        if held.ruling == "dismiss":
            return settle_alerts.dismiss(session, basin, run, found.window_days, DecisionTime.by(work.clock))
        if held.ruling == "approve":
            return _approve(session, work.clock, held, found)
        audit.record(session, DEADLINE, "alerts released", basin, work.clock.wall(), run=held.run_id)
        assert held.due_at is not None  # without a deadline it is due when somebody has decided
        until = f"{held.due_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        late = AlertDecision(sentence=f"It waited for approval until {until}, and nobody decided.")
        return settle_but_doubts(session, work.clock, found, late)


def _approve(session: Session, clock: Clock, held: HeldAlerts, found: RunChances) -> list[Change]:
    """Settle what was approved; where the run now proposes something else, hold that, and settle nothing."""
    confirmed = levels_in_doubt(session, clock, found) & {change["level"] for change in held.proposed}
    at_once = held.due_at is None  # the run has decided the other levels
    judgement = AlertDecision(
        sentence=_sentence(f"Approved by {held.ruled_by}", held.note),
        by=held.ruled_by,
        levels=frozenset(change["level"] for change in held.proposed) if at_once else frozenset(),
    )
    with session.begin_nested() as tentative:
        changes = settle_run(session, clock, found, judgement)
        as_shown = _shown(held_alerts.proposal(changes)) == _shown(held.proposed)
        if not as_shown:
            tentative.rollback()
    if as_shown:
        categories_and_doubts.confirm(session, held.basin_id, sorted(confirmed))
        return changes
    if changes:
        held_alerts.hold(session, held.basin_id, held.run_id, changes, clock.wall(), held.due_at)
    audit.record(session, SERVICE, "alerts withdrawn", held.basin_id, clock.wall(), reason="Its levels have changed.")
    return []


def _shown(proposed: Any) -> list[list[Any]]:
    changes: list[Mapping[str, Any]] = list(proposed)
    return [[change[name] for name in _SHOWN] for change in changes]


def _withdraw(work: Work, one: Adjustment | HeldAlerts, reason: str) -> list[Change]:
    """Decide nothing by what forecasters decided or what waited, and record why. Return no changes."""
    with work.database.transaction() as session:
        basins.lock(session, one.basin_id)
        if isinstance(one, Adjustment):
            adjustments.mark_decided(session, one.id, work.clock.wall())
        else:
            held_alerts.release(session, one.basin_id, one.run_id)
        audit.record(
            session, SERVICE, "alerts withdrawn", one.basin_id, work.clock.wall(), run=one.run_id, reason=reason
        )
    log.warning("alerts.withdrawn", basin=one.basin_id, run=one.run_id, reason=reason)
    return []


def _fresh(session: Session, clock: Clock, names: Sequence[str]) -> dict[str, Latest]:
    now = clock.now()
    return {
        name: newest
        for name, newest in latest.latest_many(session, names, now).items()
        if isinstance(newest, Latest) and not stale(age_days(newest.run.weather_until, now))
    }


def _sentence(what: str, *words: str | None) -> str:
    given = " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in words if part)
    return f"{what}: {given}" if given else f"{what}."


def decide(work: Work, names: Sequence[str], *, may_hold: bool = True) -> list[Change]:
    """Decide the alerts of basins by their latest forecasts, those of AT_A_TIME basins in one transaction.

    With `may_hold`, changes wait for approval where the service needs it; those of the past do not.
    """
    changes: list[Change] = []
    for first in range(0, len(names), AT_A_TIME):
        some = names[first : first + AT_A_TIME]
        with work.database.reading() as session:
            newest, decided = _fresh(session, work.clock, some), alerts.standings(session, some)
            due = [one for name, one in newest.items() if name not in decided or decided[name].is_before(one.run)]
            published = read_published(session, [(one.run, one.basin) for one in due])
        changes += _decide(work, [*published.values()], may_hold=may_hold)
        changes += _lapsed(work, some)
    if changes:
        log.info("alerts.changed", changes=len(changes))
    return changes


def _decide(work: Work, due: Sequence[RunChances], *, may_hold: bool) -> list[Change]:
    changes: list[Change] = []
    while due:
        with work.database.transaction() as session:
            basins.lock(session, *(found.basin_id for found in due))
            decided = [(found, _decide_or_hold(session, work.clock, found, may_hold=may_hold)) for found in due]
        changes += [change for _, of_basin in decided for change in of_basin or ()]
        due = [found for found, of_basin in decided if of_basin is None]
        for found in due:
            changes += carry_out(work, found.basin_id)
    return changes


def _decide_or_hold(session: Session, clock: Clock, found: RunChances, *, may_hold: bool) -> list[Change] | None:
    """Settle alerts by a run, or hold the changes of levels. None where something else is to be carried out first.

    Those of an earlier run are replaced, and its deadline stays: waiting never starts again. Changes of levels in doubt
    wait without one.
    """
    if not may_hold:
        return settle_run(session, clock, found, waiting=levels_in_doubt(session, clock, found))
    basin, run = found.basin_id, found.run
    wait, held = session.info["approval"], held_alerts.find(session, basin)
    if held is not None and held.ruling is not None:
        return None
    if held is not None and runs.get(session, held.run_id).order > run.order:
        return []  # a newer run waits
    # What concerns the service and not the river does not wait, nor what a forecaster has adjusted, nor what is
    # not sent, or to the owner of an unofficial basin alone.
    proposed = [] if wait is None or found.adjustment is not None else _proposed(session, clock, found)
    if not any(change.level and change.message and change.owner is None for change in proposed):
        if held is not None:
            held_alerts.release(session, basin)
        return settle_but_doubts(session, clock, found)
    due_at = None if held is None else held.due_at
    held_alerts.hold(session, basin, run.id, proposed, clock.wall(), due_at or clock.wall() + (wait or timedelta()))
    return []


def _proposed(
    session: Session, clock: Clock, found: RunChances, judgement: AlertDecision | None = None
) -> list[Change]:
    """Return the changes that a run would bring, and leave everything as it is."""
    with session.begin_nested() as tentative:
        proposed = settle_run(session, clock, found, judgement)
        tentative.rollback()
    return proposed


def _lapsed(work: Work, names: Sequence[str]) -> list[Change]:
    now, changes = work.clock.now(), list[Change]()
    with work.database.reading() as session:
        old = []
        for one in alerts.standings(session, names).values():
            if one.reason is not None or not stale(age_days(one.t0, now)):
                continue
            held = held_alerts.find(session, one.basin_id)
            if held is None or held.due_at is None:  # else its changes wait for approval
                old.append((one, runs.get(session, one.run_id).weather_until))
    for standing, rests_on in old:
        if stale(age_days(rests_on, now)):
            reason = absent(Reason.FORECAST_STALE, t0=str(standing.t0), days=age_days(standing.t0, now))
            with work.database.transaction() as session:
                changes += settle_alerts.lapse(session, standing, reason, DecisionTime.by(work.clock))
    return changes
