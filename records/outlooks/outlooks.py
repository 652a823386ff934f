"""Outlooks of runs: computed from their stored arrays when a run is stored, adjusted, or compared with other levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.alerts import WINDOW_DAYS
from hydrology.attribution import PARTS, whole_change
from hydrology.base.absent import NOT_STORED, Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.extremes.level_checks import LIKELY
from hydrology.outlook import Peak, highest
from records.alerts.alerts import LevelChance
from records.database.engine import Database
from records.database.stored import as_values
from records.forecasts import adjustments, latest
from records.forecasts.latest import CAN_BE_LATEST, NEWEST_FIRST
from records.levels import basin_levels, categories_and_doubts
from records.levels.categories_and_doubts import Imported
from records.outlooks.flow_outlooks import (
    ARRAYS,
    OUTLOOKS,
    FlowOutlooks,
    OutlookBefore,
    RunOutlook,
    Series,
    flow_outlooks,
    read_outlooks,
    season_of_run,
    write_outlooks,
)
from records.runs import run_arrays, run_store, runs
from records.runs.run_store import LATEST
from records.runs.run_types import RUN_BASINS, RUNS, BasinResult, NewRun, Run, RunBasin, RunBasinKey
from records.runs.runs import MAX_DAYS_BEFORE
from records.runs.tables import NEWEST_RUNS, Adjustment

Outlooks = Mapping[str, RunOutlook]
"""Outlooks of a run by basin."""


def prepare(session: Session, new: NewRun, results: Sequence[BasinResult]) -> Outlooks:
    series = {(new.id, one.basin.basin_id): {array.variable: array for array in one.series} for one in results}
    return _build(session, new, [one.basin for one in results], series)


def store_run(session: Session, new: NewRun, results: Sequence[BasinResult], prepared: Outlooks | None = None) -> Run:
    """Store a run with its outlooks, or nothing; `prepared` are those of `prepare`, None to compute them here."""
    with session.begin_nested():
        run = run_store.store(session, new, results)
        built = prepare(session, new, results) if prepared is None else prepared
        write_outlooks(session, run, [result.basin for result in results], built)
    return run


def renew_run(session: Session, run: str, basin: str) -> None:
    """Compute the outlook of a run's forecast of a basin again: an adjustment of it was published."""
    of_run, of_basin = runs.get(session, run), [runs.basin_of(session, run, basin)]
    write_outlooks(session, of_run, of_basin, build(session, of_run, of_basin))


def renew(session: Session, basin: str) -> None:
    """Compute the outlooks of a basin's newest forecasts again: its levels have changed."""
    newest = select(NEWEST_RUNS.c.run_id).filter_by(basin_id=basin, which=LATEST).distinct()
    for run in session.scalars(newest).all():
        renew_run(session, run, basin)


def follow_rating(session: Session, basin: str, at: datetime) -> Imported:
    """Convert a basin's official categories by its rating in force, and renew its outlooks where they have moved."""
    converted = categories_and_doubts.convert_categories(session, basin, at)
    if converted.changed:
        renew(session, basin)
    return converted


def write_missing(database: Database) -> None:
    """Store the outlooks and their numbers of forecasts from before these were stored: the newest, also of a season."""
    newest = select(NEWEST_RUNS.c.run_id, NEWEST_RUNS.c.basin_id).filter_by(which=LATEST).distinct()
    of_season = (
        select(RUNS.c.id, RUN_BASINS.c.basin_id)
        .join(RUN_BASINS, RUN_BASINS.c.run_id == RUNS.c.id)
        .where(RUNS.c.forcing_kind == "climatology", RUNS.c.owner.is_(None), RUNS.c.what_if.is_(None), CAN_BE_LATEST)
        .order_by(*NEWEST_FIRST)
    )
    with database.reading() as session:
        seasonal: dict[str, str] = {}
        for run, basin in session.execute(of_season):
            seasonal.setdefault(basin, run)
        keys = {(run, basin) for run, basin in session.execute(newest)} | {
            (run, name) for name, run in seasonal.items()
        }
        found = read_outlooks(session, keys)
        summed = select(OUTLOOKS.c.run_id, OUTLOOKS.c.basin_id).where(OUTLOOKS.c.weather_until.is_not(None))
        lacking = sorted(keys - {(run, basin) for run, basin in session.execute(summed)})
    for run, basin in lacking:
        with database.transaction() as session:
            if (run, basin) in found:
                of_run, of_basin = runs.get(session, run), [runs.basin_of(session, run, basin)]
                write_outlooks(session, of_run, of_basin, {basin: found[run, basin]})
            else:
                renew_run(session, run, basin)


def build(
    session: Session, run: Run, basins: Sequence[RunBasin], published: Mapping[RunBasinKey, Adjustment] | None = None
) -> Outlooks:
    issued = [(run.id, basin.basin_id) for basin in basins if basin.status == "issued"]
    return _build(session, run, basins, runs.series_of_many(session, issued, (*ARRAYS, run_arrays.CHANGES)), published)


def _build(
    session: Session,
    run: NewRun,
    basins: Sequence[RunBasin],
    series: Mapping[RunBasinKey, Series],
    published: Mapping[RunBasinKey, Adjustment] | None = None,
    at: datetime | None = None,
) -> Outlooks:
    issued = {(run.id, basin.basin_id): basin for basin in basins if basin.status == "issued"}
    published = latest.published_adjustments(session, [*issued]) if published is None else published
    present = {name: outlook for (_, name), outlook in read_outlooks(session, [*issued]).items()}
    before, no_issue = dict[str, OutlookBefore](), absent(Reason.CHANGE_NOT_OPERATIONAL)
    if run.purpose == "operational":
        before = _issues_before(session, run, [name for _, name in issued], present)
        no_issue = absent(Reason.NO_PREVIOUS_RUN, days=MAX_DAYS_BEFORE, t0=str(run.t0))
    outlooks = {}
    levels = dict(basin_levels.levels_of_many(session, [name for _, name in issued], at))
    for key, basin in issued.items():
        flows = flow_outlooks(run, basin, series[key], published.get(key), levels[basin.basin_id])
        if flows is None:
            continue
        since: OutlookBefore | Absent = no_issue
        if basin.basin_id in before:
            cause = _cause_of_change(basin, series[key], flows.published.peak)
            since = replace(before[basin.basin_id], cause=cause)
        season = season_of_run(session, run, basin, series[key])
        outlooks[basin.basin_id] = RunOutlook(**as_values(flows), before=since, season=season)
    return outlooks


def of_runs(
    session: Session,
    forecasts: Sequence[tuple[Run, RunBasin]],
    published: Mapping[RunBasinKey, Adjustment] | None = None,
) -> dict[RunBasinKey, RunOutlook | Absent]:
    """Return the outlooks of runs' basins, or why there are none.

    Those of runs stored before outlooks were, and those that follow another adjustment than `published` (default: the
    newest published), are computed from their arrays.
    """
    keys = [(run.id, basin.basin_id) for run, basin in forecasts]
    found: dict[RunBasinKey, RunOutlook | Absent] = {**read_outlooks(session, keys)}
    for key, (run, basin) in zip(keys, forecasts, strict=True):
        outlook, adjustment = found.get(key), None if published is None else published.get(key)
        followed = None if adjustment is None else adjustment.id
        if isinstance(outlook, RunOutlook) and (published is None or outlook.adjustment == followed):
            continue
        if isinstance(outlook, RunOutlook) and adjustment is None:
            found[key] = replace(outlook, adjustment=None, adjusted=None, update=None)
        else:
            found[key] = build(session, run, [basin], published).get(basin.basin_id) or basin.why_missing
    return found


def as_issued(session: Session, run: Run, basin: RunBasin, outlook: RunOutlook | Absent) -> RunOutlook | Absent:
    """Return a run's outlook by the official categories at its issue; the stored one if they are the same."""
    if isinstance(outlook, Absent) or not basin_levels.formerly(session, basin.basin_id, run.issued_at):
        return outlook
    series = runs.series_of_many(session, [(run.id, basin.basin_id)], (*ARRAYS, run_arrays.CHANGES))
    return _build(session, run, [basin], series, at=run.issued_at).get(basin.basin_id, outlook)


def _issues_before(
    session: Session, run: NewRun, basins: Sequence[str], present: Mapping[str, RunOutlook]
) -> dict[str, OutlookBefore]:
    """Return the issue before an operational run of each basin, without the cause of the change. Stored outlooks of the
    run (`present`) name the issue that stays the one before."""
    known = {
        name: (outlook.before.run, outlook.before.t0)
        for name, outlook in present.items()
        if isinstance(outlook.before, OutlookBefore)
    }
    days = Period(run.t0 - np.timedelta64(MAX_DAYS_BEFORE, "D"), run.t0 - np.timedelta64(1, "D"))
    found = runs.issued_before(session, [name for name in basins if name not in present], days, run.version_id)
    known |= {name: (before.id, str(before.t0)) for name, (before, _) in found.items()}
    outlooks = read_outlooks(session, [(previous, name) for name, (previous, _) in known.items()])
    issues = {}
    for name, (previous, t0) in known.items():
        key = previous, name
        if (outlook := outlooks.get(key) or _computed(session, key)) is not None:
            issues[name] = _issue(previous, t0, outlook)
    return issues


def _cause_of_change(basin: RunBasin, series: Series, peak: Peak | Absent) -> str | Absent:
    if run_arrays.CHANGES not in series:
        return basin.why(basin.summary.change)
    parts = series[run_arrays.CHANGES].values
    day = int(np.abs(whole_change(parts)).argmax())
    if isinstance(peak, Peak) and peak.lead <= parts.shape[-1]:
        day = peak.lead - 1
    return PARTS[int(np.nanargmax(np.abs(parts[0, :, day])))]


def _computed(session: Session, key: RunBasinKey) -> FlowOutlooks | None:
    run, basin, series = runs.get(session, key[0]), runs.basin_of(session, *key), runs.series_of(session, *key, ARRAYS)
    levels = dict(basin_levels.levels_of_many(session, [basin.basin_id]))[basin.basin_id]
    return flow_outlooks(run, basin, series, adjustments.published(session, *key), levels)


def _issue(run: str, t0: str, outlook: FlowOutlooks) -> OutlookBefore:
    shown = outlook.published
    levels = () if isinstance(shown.levels, Absent) else shown.levels
    likely = highest(levels, LIKELY)
    return OutlookBefore(
        run=run,
        t0=t0,
        peak=shown.peak,
        likely=None if likely is None else likely.level,
        chances={one.level: one.chance for one in levels},
        cause=NOT_STORED,
    )


@dataclass(frozen=True, slots=True)
class RunChances:
    """What a run makes of the levels of a basin: chances over `window_days` days after T0, or why there are none,
    following the published adjustment."""

    run: Run
    basin_id: str
    window_days: int
    chances: Sequence[LevelChance] | Absent
    adjustment: Adjustment | None


def read_chances(
    session: Session, forecasts: Sequence[tuple[Run, RunBasin]], published: Mapping[RunBasinKey, Adjustment]
) -> dict[str, RunChances]:
    """Return the chances of levels by the forecasts of basins, following the adjustments that are given."""
    outlooks = of_runs(session, forecasts, published)
    return {
        basin.basin_id: RunChances(
            run=run,
            basin_id=basin.basin_id,
            window_days=min(run.days_to_come, WINDOW_DAYS),
            chances=_chances(basin, outlooks[run.id, basin.basin_id]),
            adjustment=published.get((run.id, basin.basin_id)),
        )
        for run, basin in forecasts
    }


def _chances(basin: RunBasin, outlook: RunOutlook | Absent) -> list[LevelChance] | Absent:
    used = basin.summary.calibration
    if isinstance(outlook, Absent) or outlook.basis != "calibrated":
        return basin.why_not_calibrated
    levels = outlook.published.levels
    if isinstance(levels, Absent):
        return levels
    if isinstance(used, Absent):
        return used
    return [LevelChance(**as_values(level), calibration=used.kind) for level in levels]
