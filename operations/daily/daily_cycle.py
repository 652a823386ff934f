"""The daily cycle: ask the feeds, apply the bridges that lead on from what they bring, forecast from the newest day,
decide the alerts.

A feed, a bridge or a basin that fails is told, and the others go on. Asked again, it stores nothing new.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

import structlog

from hydrology.base.calendar import Day
from hydrology.base.errors import NotFound, Problem
from hydrology.base.staleness import age_days, stale
from ingestion.base import SourceFile
from operations.alerts.decide_alerts import decide
from operations.daily.daily_forecasts import Asked, Newest, Reasons, issue_newest
from operations.data.basins import chosen
from operations.data.source_paths import Intake
from operations.feeds.fetch import Listener, fetch
from operations.weather.fit_bridges import apply
from records.alerts.alert_changes import Change
from records.database.engine import Database
from records.forecasts import latest
from records.forecasts.latest import Latest
from records.runs import runs
from records.versions import promotions
from records.weather import bridges, feeds
from runtime.clock import Clock
from runtime.settings import Settings

log = structlog.get_logger()

Status = Literal["issued", "unchanged", "stale", "failed"]
"""What came of a basin. `issued`: a forecast now. `unchanged`: its latest forecast rests on all that is known. `stale`:
its data stopped, and it keeps a forecast that is too old. `failed`: it got no forecast that it could have had."""

ADVANCING = "basin-days to T0"
"""What is said to be under way while states advance."""

Show = Callable[[str, int, int, str], None]


@dataclass(frozen=True, slots=True)
class BasinOutcome:
    """What came of a basin.

    Attributes:
        run, t0: of its latest forecast, or of the one that was issued now; None where it has none.
        reason: why it got none now, or what went wrong on the way.
    """

    basin: str
    status: Status
    run: str | None = None
    t0: Day | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Cycle:
    """What came of a daily cycle.

    Attributes:
        basins: all that have a model version.
        runs: that were issued.
        problems: why a feed or a bridge failed, wholly or for some basin, by its name.
        changes: of alerts, by the newest forecasts.
    """

    basins: list[BasinOutcome]
    runs: list[runs.Run]
    problems: Reasons
    changes: list[Change]

    @property
    def counts(self) -> dict[str, int]:
        """How many basins have each status."""
        found = Counter(basin.status for basin in self.basins)
        return {status: found[status] for status in get_args(Status) if found[status]}


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who is told how a cycle goes on.

    Attributes:
        show: gets what is under way, how much of it is done, of how much, and what it is at.
        tell: gets what is worth knowing beforehand.
        pause: waits for some seconds between two attempts.
        on_fetch: gets each feed that was asked, by its name, what came of its basins, and what stands for their data.
    """

    show: Show = lambda _what, _done, _total, _detail: None
    notify: Callable[[str], None] = lambda _sentence: None
    pause: Callable[[float], None] = time.sleep
    on_fetch: Callable[[str, list[feeds.FetchedBasin], list[SourceFile]], None] = lambda _feed, _done, _files: None


_NOBODY = Watcher()


def daily(
    database: Database,
    clock: Clock,
    settings: Settings,
    intake: Intake,
    asked: Asked,
    names: Sequence[str] = (),
    watcher: Watcher = _NOBODY,
) -> Cycle:
    """Do what is to be done every day.

    Args:
        intake: where feeds of files may read from.
        names: of the feeds to ask; none named: all.

    Raises:
        UnknownFeed: a feed that is named is not kept.
        InvalidInput: no basin is kept.
    """
    with database.reading() as session:
        basins = [*promotions.current(session, chosen(session, []))]
        wanted = [feeds.get(session, name) for name in names] or feeds.list_feeds(session)
    problems: Reasons = {}
    lacking: Reasons = {}
    for feed in wanted:
        with _noting(feed.name, problems, lacking) as failed:
            failed |= _fetch(database, clock, settings, intake, feed.name, watcher)
    for bridge in _leading_on(database, [feed.product for feed in wanted]):
        with _noting(bridge, problems, lacking) as failed:
            failed |= _apply(database, clock, bridge, watcher)
    done = issue_newest(database, clock, basins, asked, lambda at, total: watcher.show(ADVANCING, at, total, ""))
    changes = decide(database, clock, basins) if asked.purpose == "operational" else []
    cycle = Cycle(_outcomes(database, clock, basins, done, lacking), done.issued, problems, changes)
    log.info("daily.done", runs=len(cycle.runs), changes=len(changes), **cycle.counts)
    return cycle


@contextmanager
def _noting(name: str, problems: Reasons, lacking: Reasons) -> Iterator[Reasons]:
    """Give a place for the reasons of basins that a feed or a bridge fails, and note them, or why it fails wholly."""
    failed: Reasons = {}
    try:
        yield failed
    except Problem as problem:
        problems[name] = str(problem)
    if failed:
        problems[name] = f"{len(failed)} basins failed. {next(iter(failed.values()))}"
    for basin, reason in failed.items():
        lacking.setdefault(basin, f"{name}: {reason}")


def _fetch(
    database: Database, clock: Clock, settings: Settings, intake: Intake, feed: str, watcher: Watcher
) -> Reasons:
    """Ask a feed; return why basins failed."""

    def show(basin: feeds.FetchedBasin, done: int, total: int) -> None:
        watcher.show(feed, done, total, f"{basin.basin_id} {basin.status}")

    files: list[SourceFile] = []
    listener = Listener(show, watcher.notify, watcher.pause, files.append)
    fetched = fetch(database, clock, settings, intake, feed, listener=listener)
    watcher.on_fetch(feed, fetched, files)
    return {basin.basin_id: str(basin.reason) for basin in fetched if basin.status == "failed"}


def _leading_on(database: Database, products: Sequence[str | None]) -> list[str]:
    """Return the bridges of observed weather that are from some products."""
    with database.reading() as session:
        stored = bridges.list_bridges(session)
    return [bridge.name for bridge in stored if bridge.model is None and bridge.from_product in products]


def _apply(database: Database, clock: Clock, bridge: str, watcher: Watcher) -> Reasons:
    """Apply a bridge; return why basins failed."""
    outcomes = apply(
        database, clock, bridge, on_basin=lambda basin, done, total: watcher.show(bridge, done, total, basin)
    )
    return {outcome.basin: str(outcome.error) for outcome in outcomes if outcome.status == "failed"}


def _outcomes(
    database: Database, clock: Clock, names: Sequence[str], done: Newest, lacking: Reasons
) -> list[BasinOutcome]:
    """Return what came of each basin.

    Args:
        lacking: why a feed or a bridge brought nothing of it.
    """
    now = clock.now()
    with database.reading() as session:
        issued = {row.basin_id: (run, row) for run in done.issued for row in runs.basins_of(session, run.id)}
        newest = latest.latest_many(session, names, now)
    return [_outcome(name, issued.get(name), newest[name], done, lacking.get(name), now) for name in names]


def _outcome(
    name: str,
    issued: tuple[runs.Run, runs.RunBasin] | None,
    newest: Latest | NotFound,
    done: Newest,
    lacking: str | None,
    now: datetime,
) -> BasinOutcome:
    if issued is not None:
        run, row = issued
        if row.status == "issued":
            return BasinOutcome(name, "issued", run.id, run.t0, row.spin_up_note or lacking)
    reason = done.failed.get(name) or (issued and issued[1].reason) or done.late.get(name) or lacking
    if not isinstance(newest, Latest):
        return BasinOutcome(name, "failed", reason=reason or str(newest))
    run = newest.run
    status: Status = "unchanged"
    if stale(age_days(run.t0, now)):
        status = "stale"
    elif name in done.failed or issued is not None:
        status = "failed"
    return BasinOutcome(name, status, run.id, run.t0, reason)
