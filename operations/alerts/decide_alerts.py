"""Decides the alerts of basins by their latest forecasts.

A stale forecast decides nothing. A forecast decides once only, and the next cycle decides what an interrupted one left
undecided. Where alerts need approval, changes are held until somebody decides, or until the deadline. Where no newer
forecast comes, the alerts stay as they are and are reported as resting on a stale forecast.
"""

from collections.abc import Sequence
from datetime import datetime

import structlog

from hydrology.base.absent import absent
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from hydrology.base.staleness import age_days, stale
from operations.alerts.carry_out import carry_out, read_published, settle_run
from operations.versions.stages import stage
from records.alerts import alerts, held_alerts, settle_alerts
from records.alerts.alert_changes import Change
from records.database.engine import Database
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.runs import runs
from runtime.clock import Clock

log = structlog.get_logger()

AT_A_TIME = 50
"""Number of basins whose latest forecasts are read together."""


def decide(database: Database, clock: Clock, names: Sequence[str], *, may_hold: bool = True) -> list[Change]:
    """Decide the alerts of basins by their latest forecasts, one transaction per basin.

    Args:
        may_hold: whether changes wait for approval where the service needs it; those of the past do not.

    Returns:
        The changes, in the order of the basins.
    """
    changes = carry_out(database, clock)
    for first in stage("alerts, groups of basins", range(0, len(names), AT_A_TIME)):
        some = names[first : first + AT_A_TIME]
        for newest in _undecided(database, clock, some):
            changes += _decide(database, clock, newest, may_hold=may_hold)
        changes += _lapsed(database, clock, some)
    if changes:
        log.info("alerts.changed", changes=len(changes))
    return changes


def _undecided(database: Database, clock: Clock, names: Sequence[str]) -> list[Latest]:
    """Return the latest forecasts that are not stale and have not decided alerts yet."""
    now = clock.now()
    with database.reading() as session:
        newest = latest.latest_many(session, names, now)
        decided = alerts.standings(session, names)
    return [
        one
        for name, one in newest.items()
        if isinstance(one, Latest)
        and not stale(age_days(one.run.weather_until, now))
        and (name not in decided or decided[name].is_before(one.run))
    ]


def _decide(database: Database, clock: Clock, newest: Latest, *, may_hold: bool) -> list[Change]:
    """Decide by a forecast, or hold what it proposes for approval; an adjusted forecast does not wait."""
    with database.reading() as session:
        found = read_published(session, newest.run, newest.basin)
    basin, run = found.basin_id, found.run.id
    with database.transaction() as session:
        wait = session.info["approval"] if may_hold else None
        if wait is None or found.adjustment is not None:
            held_alerts.release(session, basin)
            return settle_run(session, clock, found)
        with session.begin_nested() as tentative:
            proposed = settle_run(session, clock, found)
            if proposed:
                tentative.rollback()
        if proposed:
            held_alerts.hold(session, basin, run, proposed, clock.wall(), wait)
        else:
            held_alerts.release(session, basin)
        return []


def _lapsed(database: Database, clock: Clock, names: Sequence[str]) -> list[Change]:
    """Report the basins whose alerts rest on a stale forecast."""
    now, changes = clock.now(), []
    with database.reading() as session:
        old = [
            one for one in alerts.standings(session, names).values() if one.reason is None and _is_stale(one.t0, now)
        ]
        rests_on = {one.basin_id: runs.get(session, one.run_id).weather_until for one in old}
    for standing in old:
        age = age_days(standing.t0, now)
        if _is_stale(rests_on[standing.basin_id], now):
            reason = absent(Reason.FORECAST_STALE, t0=str(standing.t0), days=age)
            with database.transaction() as session:
                wall, replayed = clock.wall(), clock.replays
                changes += settle_alerts.lapse(session, standing, reason, now=now, wall=wall, replayed=replayed)
    return changes


def _is_stale(day: Day, now: datetime) -> bool:
    return stale(age_days(day, now))
