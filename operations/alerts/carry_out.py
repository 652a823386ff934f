"""Carries out what forecasters decided: published adjustments, rulings on held alerts, and deadlines that passed."""

from datetime import UTC

from sqlalchemy.orm import Session

from records.access import audit
from records.access.audit import Actor
from records.adjustments import adjustments
from records.adjustments.adjustments import Adjustment
from records.adjustments.level_chances import RunChances, read_chances
from records.alerts import held_alerts, settle_alerts
from records.alerts.alert_changes import Change
from records.alerts.held_alerts import HeldAlerts
from records.alerts.settle_alerts import Judgement
from records.database.engine import Database
from records.runs import runs
from records.runs.runs import Run, RunBasin
from runtime.clock import Clock


def carry_out(database: Database, clock: Clock) -> list[Change]:
    """Settle what forecasters decided and what waited until its deadline, one transaction each.

    Returns:
        The changes. Repeating it changes nothing.
    """
    with database.reading() as session:
        published = adjustments.undecided(session)
    changes = [change for adjustment in published for change in _of_adjustment(database, clock, adjustment)]
    with database.reading() as session:
        due = held_alerts.due(session, clock.wall())
    return [*changes, *(change for held in due for change in _of_held(database, clock, held))]


def settle_run(session: Session, clock: Clock, found: RunChances, judgement: Judgement | None = None) -> list[Change]:
    """Settle a basin's alerts by a run, adjusted where an adjustment of it is published."""
    if found.adjustment is not None:
        judgement = _judgement(found.adjustment)
    return settle_alerts.settle(
        session,
        found.basin_id,
        found.run,
        found.window_days,
        found.chances,
        now=clock.now(),
        wall=clock.wall(),
        replayed=clock.replays,
        judgement=judgement,
    )


def _of_adjustment(database: Database, clock: Clock, adjustment: Adjustment) -> list[Change]:
    with database.transaction() as session:
        found = _read(session, adjustment.run_id, adjustment.basin_id)
        adjustments.mark_decided(session, adjustment.id, clock.wall())
        held_alerts.release(session, adjustment.basin_id, adjustment.run_id)
        return settle_run(session, clock, found)


def _of_held(database: Database, clock: Clock, held: HeldAlerts) -> list[Change]:
    with database.transaction() as session:
        if held_alerts.find(session, held.basin_id) != held:
            return []  # another process has carried it out
        held_alerts.release(session, held.basin_id, held.run_id)
        found = _read(session, held.run_id, held.basin_id)
        if held.ruling == "dismiss":
            settle_alerts.dismiss(session, held.basin_id, found.run, found.window_days, clock.now())
            return []
        if held.ruling is None:
            deadline = Actor("deadline of approval")
            audit.record(session, deadline, "alerts released", held.basin_id, clock.wall(), run=held.run_id)
        return settle_run(session, clock, found, _of_ruling(held))


def read_published(session: Session, run: Run, basin: RunBasin) -> RunChances:
    """Return the chances of a basin's levels by a run, as its newest published adjustment has them."""
    return read_chances(session, run, basin, adjustments.published(session, run.id, basin.basin_id))


def _read(session: Session, run: str, basin: str) -> RunChances:
    return read_published(session, runs.get(session, run), runs.basin_of(session, run, basin))


def _judgement(adjustment: Adjustment) -> Judgement:
    return Judgement(
        sentence=_sentence(f"Adjusted by {adjustment.publisher}", adjustment.words, adjustment.note),
        by=adjustment.publisher,
        adjustment_id=adjustment.id,
        levels=frozenset(adjustment.chances),
    )


def _of_ruling(held: HeldAlerts) -> Judgement:
    if held.ruling is None:
        until = f"{held.due_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return Judgement(sentence=f"It waited for approval until {until}, and nobody decided.")
    return Judgement(sentence=_sentence(f"Approved by {held.ruled_by}", held.note), by=held.ruled_by)


def _sentence(what: str, *words: str | None) -> str:
    """Return who decided, and in which words."""
    given = " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in words if part)
    return f"{what}: {given}" if given else f"{what}."
