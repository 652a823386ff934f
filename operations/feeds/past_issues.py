"""Fetches past forecasts of a feed's weather model, run by run, and stores each as it was issued.

Each has its own reference time, and is available when a forecast of its time would have had it: what was known at an
instant holds it. That it was fetched later is seen in `created_at` of its weather forecast.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from hydrology.base.calendar import Period, day
from hydrology.base.errors import Problem
from hydrology.weather.forcing import WeatherForecast
from ingestion.feeds.base import FetchWindow, PastForecasts, RunUnavailable, Site
from operations.feeds.fetch import SILENT, FetchCallbacks, past_forecasts, sites_of
from operations.weather.import_forecasts import store_usable
from records.database.work import Work
from records.feeds import feeds
from records.weather import weather_issues
from records.weather.weather_issues import StoredIssue

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


def fetch_past_issues(work: Work, name: str, days: int, *, listener: FetchCallbacks = SILENT) -> PastIssues:
    """Fetch the runs of the last days that are not stored for every basin of a feed, the newest first.

    Of each day before today the run of 00 UTC. A run is stored in one transaction, for all basins that it has. After an
    interruption it goes on.
    """
    now = work.clock.now()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    times = [today - timedelta(days=age) for age in range(NEWEST_AGE, days + 1)]
    with work.database.reading() as session:
        feed = feeds.get(session, name)
        runs = past_forecasts(feed, work, listener)
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
        stored = _store(work, [one.content for one in given if isinstance(one.content, WeatherForecast)])
        done.failed |= stored.refused
        done.stored += bool(stored.new)
        failed_in_a_row = failed_in_a_row + 1 if problems and not stored.new else 0
        if failed_in_a_row == MAX_FAILED:
            done.stopped = str(next(iter(problems.values())))
            return


def _store(work: Work, forecasts: Sequence[WeatherForecast]) -> StoredIssue:
    if not forecasts:
        return StoredIssue("", (), (), {})
    with work.database.transaction() as session:
        return store_usable(session, work.clock, forecasts, operational=True)
