"""The daily cycle: fetch feeds, apply bridges, forecast from the newest day, decide alerts.

A feed, a bridge or a basin that fails is reported, and the others continue. A repeated cycle stores nothing new."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, get_args

import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, age_days, stale
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from ingestion.base import SourceFile
from jobspec.extensions import extensions
from operations.alerts.decide_alerts import decide
from operations.basin_data.basins import chosen
from operations.basin_data.sources import Intake
from operations.daily.daily_forecasts import DailyRequest, Newest, Reasons, issue_newest
from operations.feeds.fetch import SILENT, FetchCallbacks, fetch
from operations.weather.fit_bridges import apply
from records.alerts.alert_changes import Change
from records.database.work import Work
from records.feeds import feeds
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.runs import run_types, runs
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
    with work.database.reading() as session:
        stored = [bridge for bridge in bridges.list_bridges(session) if bridge.model is None]
    for bridge in [bridge.name for bridge in stored if bridge.from_product in [feed.product for feed in wanted]]:
        with _noting(bridge, problems, lacking) as failed:
            outcomes = apply(work.stage(bridge), bridge)
            failed |= {one.basin: _failure(one.error) for one in outcomes if one.status == "failed"}
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


def _failure(error: object) -> Absent:
    return absent(Reason.FAILED, message=str(error))


def _outcomes(work: Work, names: Sequence[str], done: Newest, lacking: Reasons) -> list[BasinOutcome]:
    now = work.clock.now()
    with work.database.reading() as session:
        issued = {row.basin_id: (run, row) for run in done.issued for row in runs.basins_of(session, run.id)}
        newest = latest.latest_many(session, names, now)
    outcomes = []
    for name in names:
        run, row = issued.get(name, (None, None))
        if run is not None and row is not None and row.status == "issued":
            spinning_up = row.spin_up_note and absent(Reason.SPINNING_UP, note=row.spin_up_note)
            outcomes.append(BasinOutcome(name, "issued", run.id, run.t0, spinning_up or lacking.get(name)))
            continue
        reason = done.failed.get(name) or (row and row.reason) or done.late.get(name) or lacking.get(name)
        if not isinstance(one := newest[name], Latest):
            outcomes.append(BasinOutcome(name, "failed", reason=reason or _failure(one)))
            continue
        status: Status = "failed" if name in done.failed or row is not None else "unchanged"
        if stale(age_days(one.run.weather_until, now)):
            status = "stale"
        outcomes.append(BasinOutcome(name, status, one.run.id, one.run.t0, reason))
    return outcomes


def after_daily(work: Work) -> Iterator[str]:
    """Run the parts of extensions, and yield a sentence for each that has failed."""
    for extension in extensions():
        if extension.after_daily is not None:
            sentence = extension.load(extension.after_daily)(work.stage(extension.name))
            if sentence is not None:
                yield sentence
