"""Decides the alerts of basins by their latest forecasts.

A stale forecast decides nothing. A forecast decides once only, and the next cycle decides what an interrupted one left
undecided. Where no newer forecast comes, the alerts stay as they are and are reported as resting on a stale forecast.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from hydrology.base.staleness import age_days, stale
from hydrology.base.units import Area, converted
from hydrology.extremes.alerting import WINDOW_DAYS
from hydrology.uncertainty.exceedance import FlowAhead
from operations.versions.stages import stage
from records.alerts import alerts, thresholds
from records.alerts.alert_changes import Change
from records.alerts.alerts import LevelChance
from records.database.engine import Database
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.runs import runs
from records.runs.run_summary import CalibrationKind
from runtime.clock import Clock

log = structlog.get_logger()

AT_A_TIME = 50
"""Number of basins whose latest forecasts are read together."""


def decide(database: Database, clock: Clock, names: Sequence[str]) -> list[Change]:
    """Decide the alerts of basins by their latest forecasts, one transaction per basin.

    Returns:
        The changes, in the order of the basins.
    """
    changes: list[Change] = []
    for first in stage("alerts, groups of basins", range(0, len(names), AT_A_TIME)):
        some = names[first : first + AT_A_TIME]
        for newest in _undecided(database, clock, some):
            changes += _decide(database, clock, newest)
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


def _decide(database: Database, clock: Clock, newest: Latest) -> list[Change]:
    run, basin = newest.run, newest.basin
    window = min(run.horizon_days - run.filled_days, WINDOW_DAYS)
    with database.reading() as session:
        chances = _chances(session, run, basin, window)
    now, wall, replayed = clock.now(), clock.wall(), clock.replays
    with database.transaction() as session:
        return alerts.settle(session, basin.basin_id, run, window, chances, now=now, wall=wall, replayed=replayed)


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
                changes += alerts.lapse(session, standing, reason, now=now, wall=wall, replayed=replayed)
    return changes


def _is_stale(day: Day, now: datetime) -> bool:
    return stale(age_days(day, now))


def _chances(session: Session, run: runs.Run, basin: runs.RunBasin, window: int) -> list[LevelChance] | Absent:
    """Return the exceedance probability of each level within a window, or why there is none."""
    flow = runs.flow_ahead(session, run.id, basin.basin_id)
    if flow is None:
        return basin.why_not_calibrated
    if basin.area_m2 is None or basin.area_name is None:
        return absent(Reason.NO_AREA_FOR_LEVELS)
    area = Area(basin.area_name, basin.area_m2)
    used = basin.summary.calibration
    if isinstance(used, Absent):
        return used
    return [*_of_levels(session, basin.basin_id, flow.after(run.filled_days).within(window), area, used.kind)]


def _of_levels(
    session: Session, basin: str, flow: FlowAhead, area: Area, calibration: CalibrationKind
) -> Iterator[LevelChance]:
    for level in thresholds.levels_of(session, basin):
        if level.kind == "flow-duration" or level.discharge is None or level.unit is None:
            continue  # a level that most days exceed marks no event; a short record has no level
        if level.direction == "falling" and level.discharge == 0:
            continue  # the river dries up that often, and flow cannot fall below nothing
        depth = float(converted(level.discharge, unit=level.unit, into="mm/day", area=area))
        yield LevelChance(
            level=level.name,
            kind=level.kind,
            return_period_years=level.return_period_years,
            direction=level.direction,
            discharge=float(converted(level.discharge, unit=level.unit, into="m3/s", area=area)),
            chance=flow.chances(depth, level.direction)[1],
            calibration=calibration,
            official_stage=level.official_stage,
        )
