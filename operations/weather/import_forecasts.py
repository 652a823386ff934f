"""Stores weather forecasts: those in files and folders, and the past ones of a feed's weather model, run by run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem, InvalidInput, Problem
from hydrology.weather.forcing import WeatherForecast
from ingestion import weather_files
from ingestion.base import ANY_FILES, Files
from ingestion.feeds.base import FetchWindow, PastForecasts, RunUnavailable, Site
from ingestion.feeds.http import FeedAccess
from jobspec.extensions import extensions, load
from jobspec.feed_kinds import FEED_KINDS, kind_of
from operations.basin_data.check_incoming import ImpossibleWeather, check_forecast, read_references
from operations.feeds.fetch import SILENT, FetchCallbacks, site_of, sites_of
from records.basins import basins
from records.database.work import Work
from records.feeds import feeds
from records.weather import weather_issues
from records.weather.weather_issues import StoredIssue
from runtime.clock import Clock


class NoWeather(DataProblem):
    """No basin has a weather forecast that can be stored."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of importing files: the weather forecast of each, by its path in their folder."""

    stored: Mapping[str, StoredIssue]
    failed: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Number of files of which something is stored, and of their basins stored now and before."""
        issues = self.stored.values()
        new, known = (sum(len(getattr(issue, name)) for issue in issues) for name in ("new", "known"))
        return {"files": len(self.stored), "new": new, "known": known}

    @property
    def refused(self) -> dict[str, dict[str, str]]:
        """Why a file, or a basin of a file, is not stored, by file."""
        parts = {name: dict(issue.refused) for name, issue in self.stored.items() if issue.refused}
        return parts | {name: {"": reason} for name, reason in self.failed.items()}


def add_all(work: Work, place: Path, *, grid: bool = False) -> Imported:
    """Import the weather forecast in a file, or those in the files of a folder and below it, each in one transaction.

    Imported again, it stores only what is new: after an interruption it goes on. With `grid` a folder holds one weather
    forecast, on grids.
    """
    folder, names = place.parent, [place.name]
    if place.is_dir() and not grid:
        files = [path for path in sorted(place.rglob("*")) if path.suffix.lower() in weather_files.SUFFIXES]
        folder, names = place, [str(path.relative_to(place)) for path in files if path.is_file()]
    stored: dict[str, StoredIssue] = {}
    failed: dict[str, str] = {}
    for done, name in enumerate(names):
        work.show(done, len(names), name)
        try:
            stored[name] = add(work, folder / name, grid=grid)
        except Problem as problem:
            failed[name] = str(problem)
    if not stored:
        nothing = f"{folder} has no file that ends in {', '.join(weather_files.SUFFIXES)}: name another folder."
        raise NoWeather(_why(failed) if failed else nothing)
    return Imported(stored, failed)


def add(
    work: Work, path: Path, files: Files = ANY_FILES, *, operational: bool = True, grid: bool = False
) -> StoredIssue:
    """Import a weather forecast; refuse it per basin where unusable, and store the rest."""
    read = _read_grid(work, path) if grid else weather_files.read(path, work.clock.now(), files)
    if not read.forecasts:
        raise NoWeather(_why(read.refused))
    with work.database.transaction() as session:
        stored = store_usable(session, work.clock, read.forecasts, operational=operational)
        name = Path(files.shown(path)).name
        refused = {**read.refused, **{basin: f"{name}: {reason}" for basin, reason in stored.refused.items()}}
        if not stored.new and not stored.known:
            raise NoWeather(_why(refused))
    return replace(stored, refused=refused)


def _read_grid(work: Work, path: Path) -> weather_files.WeatherFile:
    """Read a weather forecast on grids, for all basins with an outline."""
    extension = next((one for one in extensions() if one.weather_grid is not None), None)
    if extension is None or extension.weather_grid is None:
        raise InvalidInput(
            "--grid needs the extension grid with its libraries: install them (pip install 'freshet-forecast[grid]'), "
            "and name the extension in FRESHET_EXTENSIONS where that is set."
        )
    with work.database.reading() as session:
        sites = [site_of(basin) for basin in basins.list_basins(session) if basin.outline]
    if not sites:
        raise NoWeather("No basin has an outline to average a grid over: add some (freshet basins add --outline FILE).")
    read: weather_files.WeatherFile = extension.load(extension.weather_grid)(
        path, sites, work.clock.now(), work.settings.data
    )
    return read


def store_usable(
    session: Session, clock: Clock, forecasts: Sequence[WeatherForecast], *, operational: bool
) -> StoredIssue:
    """Store the forecasts of an issue whose weather is possible, and return why others are not stored."""
    refused, warnings, usable = dict[str, str](), dict[str, tuple[str, ...]](), list[WeatherForecast]()
    references = read_references(session, [forecast.basin for forecast in forecasts], [None])
    for forecast in forecasts:
        try:
            if odd := check_forecast(forecast, references.get(forecast.basin)):
                warnings[forecast.basin] = tuple(odd)
            usable.append(forecast)
        except ImpossibleWeather as problem:
            refused[forecast.basin] = str(problem)
    if not usable:
        return StoredIssue("", (), (), refused)
    stored = weather_issues.store(session, usable, clock.wall(), operational=operational)
    return replace(stored, refused={**refused, **stored.refused}, warnings=warnings)


def _why(refused: Mapping[str, str]) -> str:
    reasons = list(refused.values())
    if not reasons:
        return "The weather forecast holds no basin: give one at least."
    return f"No part of the weather forecast can be stored. {reasons[0]}" + (
        f" And {len(reasons) - 1} more." if reasons[1:] else ""
    )


log = structlog.get_logger()

NEWEST_AGE = 2
"""Age in days of the newest run that is fetched: younger ones are the feed's own, which begins some days earlier."""
MAX_FAILED = 3
"""Number of runs that fail one after the other before the service is left alone."""


@dataclass(slots=True)
class PastIssues:
    """The outcome of fetching past runs; the service does not have the `missing` ones.

    By basin that lacks a run, `failed` has the last reason. `stopped`: why the rest was not asked for, None where all
    was.
    """

    source: str
    model: str
    stored: int = 0
    before: int = 0
    missing: list[datetime] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    stopped: str | None = None


def _past_forecasts(feed: feeds.Feed, work: Work, listener: FetchCallbacks) -> PastForecasts:
    """Return the past forecasts of a feed's model; refuse a feed whose service has none."""
    shown = feed.read()
    reference = kind_of(shown.adapter).past_forecasts
    if reference is None:
        with_some = [kind.adapter for kind in FEED_KINDS.values() if kind.past_forecasts is not None]
        raise InvalidInput(
            f"A feed of the adapter {shown.adapter} has no past issues to fetch: name one of "
            f"{', '.join(with_some) or 'another extension'}, or import a folder of past forecasts (freshet weather add "
            "FOLDER)."
        )
    runs: PastForecasts = load(reference)(
        shown, FeedAccess(work.settings.ingest_hosts, listener.pause, listener.notify)
    )
    return runs


def fetch_past_issues(work: Work, name: str, days: int, *, listener: FetchCallbacks = SILENT) -> PastIssues:
    """Fetch the runs of the last days that are not stored for every basin of a feed, the newest first.

    Of each day before today the run of 00 UTC. A run is stored in one transaction, for all basins that it has. After an
    interruption it goes on. Each has its own reference time, and is available when a forecast of its time would have
    had it; that it was fetched later is seen in `created_at` of its weather forecast.
    """
    now = work.clock.now()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    times = [today - timedelta(days=age) for age in range(NEWEST_AGE, days + 1)]
    with work.database.reading() as session:
        feed = feeds.get(session, name)
        runs = _past_forecasts(feed, work, listener)
        sites = sites_of(session, feed)
        done = PastIssues(runs.source, runs.model)
        known = weather_issues.stored_basins(session, done.source, done.model, times[-1]) if times else {}
    left = {began: [site for site in sites if site.basin not in known.get(began, ())] for began in times}
    wanted = {began: of for began, of in left.items() if of}
    done.before = len(times) - len(wanted)
    if wanted:
        runs.announce([*wanted.values()])
        _fetch(work, runs, wanted, done)
    log.info("past_issues.fetched", feed=name, stored=done.stored, before=done.before, missing=len(done.missing))
    return done


def _fetch(work: Work, runs: PastForecasts, wanted: dict[datetime, list[Site]], done: PastIssues) -> None:
    failed_in_a_row = 0
    for at, (began, sites) in enumerate(wanted.items()):
        work.show(at, len(wanted), f"{began:%Y-%m-%dT%H:%MZ}")
        first = day(began.date())
        given = [*runs.run(began).fetch(sites, FetchWindow(Period(first, first), work.clock.now()))]
        problems = {one.basin: one.content for one in given if isinstance(one.content, Problem)}
        if any(isinstance(problem, RunUnavailable) for problem in problems.values()):
            done.missing.append(began)
            problems = {basin: why for basin, why in problems.items() if not isinstance(why, RunUnavailable)}
        done.failed |= {basin: str(problem) for basin, problem in problems.items()}
        forecasts = [one.content for one in given if isinstance(one.content, WeatherForecast)]
        with work.database.transaction() as session:
            stored = store_usable(session, work.clock, forecasts, operational=True)
        done.failed |= stored.refused
        done.stored += bool(stored.new)
        failed_in_a_row = failed_in_a_row + 1 if problems and not stored.new else 0
        if failed_in_a_row == MAX_FAILED:
            done.stopped = str(next(iter(problems.values())))
            return
