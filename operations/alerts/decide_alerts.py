"""Decides the alerts of basins by their latest forecasts.

A stale forecast decides nothing. A forecast decides once only, and the next cycle decides what an interrupted one left
undecided. Where alerts need approval, changes are held until somebody decides, or until the deadline. Where no newer
forecast comes, the alerts stay as they are and are reported as resting on a stale forecast.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import Day, age_days, stale
from hydrology.base.reasons import Reason
from operations.alerts.carry_out import carry_out, levels_in_doubt, read_published, settle_but_doubts, settle_run
from operations.versions.stages import with_progress
from records.alerts import alerts, held_alerts, settle_alerts
from records.alerts.alert_changes import Change
from records.basins import basins
from records.database.work import Work
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.outlooks.outlooks import RunChances
from records.runs import runs
from runtime.clock import Clock

log = structlog.get_logger()

AT_A_TIME = 50
"""Number of basins whose latest forecasts are read together."""


def decide(work: Work, names: Sequence[str], *, may_hold: bool = True) -> list[Change]:
    """Decide the alerts of basins by their latest forecasts, one transaction per basin.

    With `may_hold`, changes wait for approval where the service needs it; those of the past do not.
    """
    changes: list[Change] = []
    for first in with_progress("alerts, groups of basins", range(0, len(names), AT_A_TIME)):
        some = names[first : first + AT_A_TIME]
        for newest in _undecided(work, some):
            changes += _decide(work, newest, may_hold=may_hold)
        changes += _lapsed(work, some)
    if changes:
        log.info("alerts.changed", changes=len(changes))
    return changes


def _undecided(work: Work, names: Sequence[str]) -> list[Latest]:
    """Return the latest forecasts that are not stale and have not decided alerts yet."""
    now = work.clock.now()
    with work.database.reading() as session:
        newest = latest.latest_many(session, names, now)
        decided = alerts.standings(session, names)
    return [
        one
        for name, one in newest.items()
        if isinstance(one, Latest)
        and not stale(age_days(one.run.weather_until, now))
        and (name not in decided or decided[name].is_before(one.run))
    ]


def _decide(work: Work, newest: Latest, *, may_hold: bool) -> list[Change]:
    with work.database.reading() as session:
        found = read_published(session, newest.run, newest.basin)
    if not may_hold:
        with work.database.transaction() as session:
            return settle_run(session, work.clock, found, waiting=levels_in_doubt(session, work.clock, found))
    changes: list[Change] = []
    while (decided := _decide_or_hold(work, found)) is None:
        changes += carry_out(work, found.basin_id)
    return [*changes, *decided]


def _decide_or_hold(work: Work, found: RunChances) -> list[Change] | None:
    """Settle alerts by a run, or hold the changes of levels. None where something else is to be carried out first.

    Those of an earlier run are replaced, and its deadline stays: waiting never starts again. Changes of levels in doubt
    wait without one.
    """
    basin, run = found.basin_id, found.run
    with work.database.transaction() as session:
        basins.lock(session, basin)
        wait, held = session.info["approval"], held_alerts.find(session, basin)
        if held is not None and held.ruling is not None:
            return None
        if held is not None and runs.get(session, held.run_id).order > run.order:
            return []  # a newer run waits
        # What concerns the service and not the river does not wait, nor what a forecaster has adjusted, nor what is
        # not sent, or to the owner of an unofficial basin alone.
        proposed = [] if wait is None or found.adjustment is not None else _proposed(session, work.clock, found)
        if not any(change.level and change.message and change.owner is None for change in proposed):
            held_alerts.release(session, basin)
            return settle_but_doubts(session, work.clock, found)
        due_at = None if held is None else held.due_at
        held_alerts.hold(
            session, basin, run.id, proposed, work.clock.wall(), due_at or work.clock.wall() + (wait or timedelta())
        )
        return []


def _proposed(session: Session, clock: Clock, found: RunChances) -> list[Change]:
    with session.begin_nested() as tentative:
        proposed = settle_run(session, clock, found)
        tentative.rollback()
    return proposed


def _lapsed(work: Work, names: Sequence[str]) -> list[Change]:
    now, changes = work.clock.now(), []
    with work.database.reading() as session:
        old = [
            one
            for one in alerts.standings(session, names).values()
            if one.reason is None and _is_stale(one.t0, now) and not _waits_until(session, one.basin_id)
        ]
        rests_on = {one.basin_id: runs.get(session, one.run_id).weather_until for one in old}
    for standing in old:
        age = age_days(standing.t0, now)
        if _is_stale(rests_on[standing.basin_id], now):
            reason = absent(Reason.FORECAST_STALE, t0=str(standing.t0), days=age)
            with work.database.transaction() as session:
                at = settle_alerts.DecisionTime(now, work.clock.wall(), work.clock.replays)
                changes += settle_alerts.lapse(session, standing, reason, at)
    return changes


def _waits_until(session: Session, basin: str) -> datetime | None:
    """Return when changes of a basin's alerts go out that wait for approval. None where none do."""
    held = held_alerts.find(session, basin)
    return None if held is None else held.due_at


def _is_stale(day: Day, now: datetime) -> bool:
    return stale(age_days(day, now))
