"""The daily cycle: fetch feeds, apply bridges, forecast from the newest day, decide alerts.

A feed, a bridge or a basin that fails is reported, and the others continue. A repeated cycle stores nothing new."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, known
from hydrology.base.calendar import Day, age_days, stale
from hydrology.base.errors import NotFound, Problem
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.weather.forcing_kinds import ForcingKind
from ingestion.base import SourceFile
from jobspec.extensions import extensions
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import chosen, last_ended
from operations.basin_data.sources import Intake
from operations.daily.daily_forecasts import DailyRequest, Newest, Reasons, issue_newest
from operations.feeds.fetch import SILENT, FetchCallbacks, fetch
from operations.weather.fit_bridges import apply
from records.alerts.alert_changes import Change
from records.basins import basins
from records.database.engine import Database
from records.database.work import Work
from records.feeds import feeds
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.filled_note import weather_note
from records.runs.run_summary import CalibrationKind
from records.versions import promotions
from records.weather import bridges

log = structlog.get_logger()

Status = Literal["issued", "unchanged", "stale", "failed"]
"""Outcome of a basin. `issued`: a new forecast. `unchanged`: its latest forecast already uses all known data. `stale`:
its data stopped, and its latest forecast is too old. `failed`: a forecast was possible, but was not issued."""

OnFetch = Callable[[str, list[feeds.FetchedBasin], list[SourceFile]], None]
"""Receives the name of each feed that was asked, the outcome of its basins, and their source files."""

ADVANCING = "basin-days to T0"
"""Label of the stage in which states advance."""


@dataclass(frozen=True, slots=True)
class BasinOutcome:
    """The daily cycle's outcome for one basin: its latest forecast, and why none was issued now."""

    basin: str
    status: Status
    run: str | None = None
    t0: Day | None = None
    reason: Absent | None = None


@dataclass(frozen=True, slots=True)
class Cycle:
    """The outcome of a daily cycle; the problems are by feed or bridge."""

    basins: list[BasinOutcome]
    runs: list[run_types.Run]
    problems: Reasons
    changes: list[Change]

    @property
    def counts(self) -> dict[str, int]:
        """Number of basins by status."""
        found = Counter(basin.status for basin in self.basins)
        return {status: found[status] for status in get_args(Status) if found[status]}


def daily(
    work: Work,
    intake: Intake,
    asked: DailyRequest,
    *,
    names: Sequence[str] = (),
    listener: FetchCallbacks = SILENT,
    on_fetch: OnFetch = lambda _feed, _done, _files: None,
) -> Cycle:
    """Run the daily cycle once, with the named feeds or all; `intake` has the places that file feeds may read."""
    with work.database.reading() as session:
        basins = [*promotions.current(session, chosen(session, []))]
        wanted = [feeds.get(session, name) for name in names] or feeds.list_feeds(session)
    problems: Reasons = {}
    lacking: Reasons = {}
    for feed in wanted:
        with _noting(feed.name, problems, lacking) as failed:
            failed |= _fetch(work, intake, feed.name, listener, on_fetch)
    for bridge in _leading_on(work.database, [feed.product for feed in wanted]):
        with _noting(bridge, problems, lacking) as failed:
            failed |= _apply(work, bridge)
    asked = replace(asked, climatology=work.settings.fill_with_climatology)
    done = issue_newest(work.stage(ADVANCING), basins, asked)
    changes = decide(work, basins) if asked.purpose == "operational" else []
    cycle = Cycle(_outcomes(work, basins, done, lacking), done.issued, problems, changes)
    log.info("daily.done", runs=len(cycle.runs), changes=len(changes), **cycle.counts)
    return cycle


@contextmanager
def _noting(name: str, problems: Reasons, lacking: Reasons) -> Iterator[Reasons]:
    failed: Reasons = {}
    try:
        yield failed
    except Problem as problem:
        problems[name] = absent(Reason.FAILED, message=str(problem))
    if failed:
        problems[name] = absent(Reason.BASINS_FAILED, count=len(failed), first=next(iter(failed.values())))
    for basin, reason in failed.items():
        lacking.setdefault(basin, absent(Reason.SOURCE_FAILED, source=name, why=reason))


def _fetch(work: Work, intake: Intake, feed: str, listener: FetchCallbacks, on_fetch: OnFetch) -> Reasons:
    """Fetch a feed; return the reason by failed basin."""

    def show(basin: feeds.FetchedBasin, done: int, total: int) -> None:
        work.stage(feed).show(done, total, f"{basin.basin_id} {basin.status}")

    files: list[SourceFile] = []
    following = replace(listener, on_basin=show, on_file=files.append)
    fetched = fetch(work, intake, feed, listener=following)
    on_fetch(feed, fetched, files)
    return {basin.basin_id: _failure(basin.reason) for basin in fetched if basin.status == "failed"}


def _leading_on(database: Database, products: Sequence[str | None]) -> list[str]:
    with database.reading() as session:
        stored = bridges.list_bridges(session)
    return [bridge.name for bridge in stored if bridge.model is None and bridge.from_product in products]


def _apply(work: Work, bridge: str) -> Reasons:
    """Apply a bridge; return the reason by failed basin."""
    outcomes = apply(work.stage(bridge), bridge)
    return {outcome.basin: _failure(outcome.error) for outcome in outcomes if outcome.status == "failed"}


def _failure(error: object) -> Absent:
    return absent(Reason.FAILED, message=str(error))


def _outcomes(work: Work, names: Sequence[str], done: Newest, lacking: Reasons) -> list[BasinOutcome]:
    now = work.clock.now()
    with work.database.reading() as session:
        issued = {row.basin_id: (run, row) for run in done.issued for row in runs.basins_of(session, run.id)}
        newest = latest.latest_many(session, names, now)
    return [_outcome(name, issued.get(name), newest[name], done, lacking.get(name), now) for name in names]


def _outcome(
    name: str,
    issued: tuple[run_types.Run, run_types.RunBasin] | None,
    newest: Latest | NotFound,
    done: Newest,
    lacking: Absent | None,
    now: datetime,
) -> BasinOutcome:
    if issued is not None:
        run, row = issued
        if row.status == "issued":
            spinning_up = row.spin_up_note and absent(Reason.SPINNING_UP, note=row.spin_up_note)
            return BasinOutcome(name, "issued", run.id, run.t0, spinning_up or lacking)
    reason = done.failed.get(name) or (issued and issued[1].reason) or done.late.get(name) or lacking
    if not isinstance(newest, Latest):
        return BasinOutcome(name, "failed", reason=reason or _failure(newest))
    run = newest.run
    status: Status = "unchanged"
    if stale(age_days(run.weather_until, now)):
        status = "stale"
    elif name in done.failed or issued is not None:
        status = "failed"
    return BasinOutcome(name, status, run.id, run.t0, reason)


def after_daily(work: Work) -> Iterator[str]:
    """Run the parts of extensions, and yield a sentence for each that has failed."""
    for extension in extensions():
        if extension.after_daily is not None:
            sentence = extension.load(extension.after_daily)(work.stage(extension.name))
            if sentence is not None:
                yield sentence


_LEVELS = (0.05, 0.5, 0.95)
_TWO_DAYS = np.timedelta64(2, "D")  # from the day that has ended to the day after the one that has not


@dataclass(frozen=True, slots=True)
class Tomorrow:
    """The discharge of tomorrow, m3/s: the quantiles 0.05, 0.5 and 0.95.

    They are calibrated, or the members' where `calibration` is None. The notes are cautions: the version extrapolates
    beyond its training, or weather was not observed in time or not forecast.
    """

    day: Day
    low: float
    median: float
    high: float
    weather: ForcingKind
    calibration: CalibrationKind | None
    training_note: str | None
    weather_note: str | None


def tomorrow(session: Session, basin: str, run: str, now: datetime) -> Tomorrow | None:
    """Return a run's discharge for tomorrow; None where its horizon is too short or the area unknown."""
    stored, of_basin = runs.get(session, run), runs.basin_of(session, run, basin)
    day = last_ended(basins.get(session, basin), now) + _TWO_DAYS
    series = runs.series_of(session, run, basin, [run_arrays.CALIBRATED, "discharge_quantiles"])
    quantiles = series.get(run_arrays.CALIBRATED) or series.get("discharge_quantiles")
    lead = int((day - stored.t0).astype(int))
    if quantiles is None or lead not in quantiles.axes["lead"] or of_basin.area_m2 is None:
        return None
    at = [quantiles.axes["level"].index(level) for level in _LEVELS], quantiles.axes["lead"].index(lead)
    area = Area(str(of_basin.area_name), of_basin.area_m2)
    low, median, high = mm_per_day_to_m3s(quantiles.values[at], area=area).tolist()
    note = of_basin.summary.training_note if of_basin.summary.beyond(stored.product) else None
    used = known(of_basin.summary.calibration)
    kind = None if used is None else used.kind
    return Tomorrow(
        day=day,
        low=low,
        median=median,
        high=high,
        weather=stored.forcing_kind,
        calibration=kind,
        training_note=note,
        weather_note=weather_note(stored, of_basin.summary),
    )
