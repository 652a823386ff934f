"""`freshet feeds`: feeds from external services, and the results of their fetches."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from starlette import responses

from app import feeds as answers
from freshet.cli.context import opened
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import OnlyBasins, argument, option
from freshet.cli.output import (
    MAX_ROWS,
    PARTLY_DONE,
    Json,
    answer,
    facts,
    inform,
    inform_missing,
    listing,
    reporting,
    table,
)
from freshet.cli.reading import Reading, Shown, reads, writer_of, writes
from freshet.cli.text_files import valid
from hydrology.base.basins import basin_id
from hydrology.base.calendar import day
from hydrology.base.errors import DataProblem, InvalidInput, Problem
from jobspec.feed_kinds import FEED_KINDS, USUAL, NewFeed, read_settings, usual_left_out
from jobspec.feeds import FeedSettings
from jobspec.jobs.data import FetchJob, FetchParams
from jobspec.jobs.forecasting import BackfillJob
from operations.feeds import fetch
from records.access.audit import Writer
from records.feeds import feeds

_FEEDS = "feed: name | adapter | product | last fetch: last_fetch_at | last success: last_success_at | last_error"
_BASINS = "basin | status | new_days | revised_days | last fetched: fetched_at | why: reason"
_BACKFILLED = (
    "weather forecasts stored now: issues | stored before: issues_before | not in the service: issues_missing | "
    "reforecasts stored now: reforecasts | forecasts of these days stored before: reforecasts_before"
)


Name = Annotated[str, argument("FEED", "Its name.")]


@writes
def add_feed(
    by: Writer,
    name: Annotated[str, argument("NAME", "A name not used by another feed.")],
    adapter: Annotated[str, option("ADAPTER", f"One of {', '.join(FEED_KINDS)}.")],
    basin: OnlyBasins = None,
    product: Annotated[str | None, option("NAME", "Product name to store its weather under.")] = None,
    model: Annotated[
        str | None, option("NAME", "Of Open-Meteo: era5, ecmwf_ifs, ...; of grids a name of yours.")
    ] = None,
    members: Annotated[int | None, option("COUNT", "Of an ensemble, control included.")] = None,
    days_back: Annotated[int | None, option("DAYS", "Past days that every fetch reads again.")] = None,
    days_ahead: Annotated[int | None, option("DAYS", "Of each weather forecast.")] = None,
    days_behind: Annotated[
        int | None, option("DAYS", "Days before today at which each deterministic weather forecast starts.")
    ] = None,
    series: Annotated[
        list[str] | None, option("BASIN=SERIES", "Where a gauge has several; repeat it for more.")
    ] = None,
    source: Annotated[
        list[str] | None, option("PLACE", "Of files and grids: a folder, a file or a URL.", "--from")
    ] = None,
) -> Shown:
    """Add a feed. It is fetched by `freshet feeds fetch`, and by jobs and schedules of the kind fetch."""
    result: dict[str, Any] = {
        "adapter": adapter,
        "basins": basin or None,
        "product": product,
        "model": model,
        "members": members,
        "days_back": days_back,
        "days_ahead": days_ahead,
        "days_behind": days_behind,
        "series": dict(map(_pair, series)) if series else None,
        "from": source,
    }
    settings = read_settings({field: value for field, value in result.items() if value is not None})
    found = _create(by, name, settings)
    return Shown(found, lambda: f"Feed {name} is added: freshet feeds fetch {name}")


def start_feeds(
    since: Annotated[str, option("YYYY-MM-DD", "The first day of discharge and past weather.")],
    as_json: Json = False,
) -> None:
    """Add the usual feeds if missing, and fetch their data of every basin since a given day.

    They are flow (discharge of USGS), past and ahead (past weather and weather forecasts of Open-Meteo), ratings and
    categories (of USGS and NOAA, for stages and flood levels).
    """
    from freshet.cli.command_run import run

    done: dict[str, Any] = {}
    problems: dict[str, str] = {}
    without = usual_left_out()
    if not USUAL:
        raise InvalidInput(without or "No extension is installed that has a feed of an outside service: install one.")
    if without:
        inform(without)
    with opened() as context, reporting() as reporter:
        days = fetch.until_now(day(since), context.clock)
        with context.database.reading() as session:
            stored = {feed.name for feed in feeds.list_feeds(session)}
        for name in [name for name in USUAL if name not in stored]:
            _create(writer_of(context), name, USUAL[name])
        for name in USUAL:
            try:
                done[name] = run(context, "fetch", FetchParams(feed=name, period=days), reporter)
            except Problem as problem:
                problems[name] = str(problem)
                inform(f"{name}: {problem}")
    rows = [(name, _counted(result)) for name, result in done.items()]
    answer({"feeds": done, "problems": problems}, as_json, table(("feed", "basins"), rows))
    if problems or any(result["failed"] for result in done.values()):
        raise typer.Exit(PARTLY_DONE if done else DataProblem.exit_code)


@reads
def list_feeds(at: Reading) -> Shown:
    """List the feeds with their last fetch."""
    found = answers.Feeds(feeds=[answers.feed_of(feed, at.key) for feed in feeds.list_feeds(at.session)])
    return Shown(found, lambda: listing(found.feeds, _FEEDS, f"{len(found.feeds)} feeds"))


@reads
def show_feed(at: Reading, feed: Name) -> Shown:
    """Show a feed: its settings, and the result of the last fetch for each basin."""
    found = answers.feed_detail(at.session, feeds.get(at.session, feed), at.key)

    def text() -> RenderableType:
        inform_missing(found, found.missing)
        for hole in [hole for basin in found.basins for hole in basin.holes][:MAX_ROWS]:
            inform(f"No {', '.join(hole.variables)} from {hole.first} to {hole.last}: {hole.fetch}")
        return listing(found.basins, _BASINS, f"{found.name}: {found.settings}")

    return Shown(found, text)


@job_command(FetchJob, Layout(arguments=("feed",)))
def fetch_feed(done: Done) -> Iterator[RenderableType]:
    """Fetch new data from a feed and store it. Fetched again, it stores only what is new."""
    yield f"{done.params.feed}: {_counted(done.result)}"


@job_command(BackfillJob, Layout(arguments=("feed",)), partly=["warnings"])
def backfill_feed(done: Done) -> Iterator[RenderableType]:
    """Fetch past weather forecasts of a feed, reforecast with them, and recalibrate forecasts at once.

    The forecasts of a new service then rest on a season of past ones. Each step stores as it goes: run again, it
    fetches and computes only what is missing.
    """
    yield facts(done.result, _BACKFILLED, f"Past forecasts with {done.result['weather']}")


@writes
def remove_feed(by: Writer, feed: Name) -> Shown:
    """Remove a feed. Its fetched data stay."""
    answers.delete_feed(by, feed)
    return Shown({"removed": feed}, lambda: f"Feed {feed} is removed. Its fetched data stay.")


def _create(by: Writer, name: str, settings: FeedSettings) -> "answers.Feed":
    return answers.create_feed(responses.Response(), by, valid(NewFeed, {"name": name, "settings": settings}, "feed"))


def _counted(result: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {status}" for status, count in result["counts"].items())


def _pair(text: str) -> tuple[str, str]:
    basin, separator, series = text.partition("=")
    if not separator:
        raise InvalidInput("--series does not name a series: write it as BASIN=SERIES.")
    return basin_id(basin), series
