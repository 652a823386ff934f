"""`freshet feeds`: feeds from external services, and the results of their fetches."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import TypeAdapter
from rich.console import Group

from freshet.cli.configuring import valid
from freshet.cli.context import Change, Context, changing, opened, reading
from freshet.cli.intake import any_intake
from freshet.cli.options import OnlyBasins, argument, option
from freshet.cli.output import (
    MAX_ROWS,
    PARTLY_DONE,
    Json,
    answer,
    answer_list,
    exit_if_failed,
    first_rows,
    inform,
    table,
)
from freshet.cli.progress import Reporter, reporting
from hydrology.base.basins import basin_id
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem, InvalidInput, Problem, counted
from ingestion.base import SourceFile
from jobspec.feeds import ADAPTERS, USUAL, AnyFeedSettings, NewFeed, read_settings
from jobspec.jobs.data import BackfillParams
from operations.feeds import holes
from operations.feeds.fetch import FetchCallbacks, until_now
from operations.feeds.fetch import fetch as run
from operations.upkeep import audit_details
from records.weather import feeds as records

if TYPE_CHECKING:
    from operations.verification.backfill import Backfilled

_BACKFILL = BackfillParams.model_fields
_COLUMNS = ("basin", "status", "new days", "revised days", "last fetched", "why")

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, argument("FEED", "Its name.")]


@app.callback()
def feeds() -> None:
    """Add, list, fetch, backfill and remove feeds of discharge, weather and forecasts."""


@app.command("add")
def add(
    name: Annotated[str, argument("NAME", "A name not used by another feed.")],
    adapter: Annotated[str, option("ADAPTER", f"One of {', '.join(ADAPTERS)}.")],
    basin: OnlyBasins = None,
    product: Annotated[str | None, option("NAME", "Product name to store its weather under.")] = None,
    model: Annotated[str | None, option("NAME", "Of Open-Meteo: era5, ecmwf_ifs, ...")] = None,
    members: Annotated[int | None, option("COUNT", "Of an ensemble, control included.")] = None,
    days_back: Annotated[int | None, option("DAYS", "Past days that every fetch reads again.")] = None,
    days_ahead: Annotated[int | None, option("DAYS", "Of each weather forecast.")] = None,
    days_behind: Annotated[
        int | None, option("DAYS", "Days before today at which each deterministic weather forecast starts.")
    ] = None,
    series: Annotated[
        list[str] | None, option("BASIN=SERIES", "Where a gauge has several; repeat it for more.")
    ] = None,
    source: Annotated[list[str] | None, option("PLACE", "Of files: a folder, a file or a URL.", "--from")] = None,
    as_json: Json = False,
) -> None:
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
    with changing() as change:
        feed = _create(change, name, settings)
    answer(asdict(feed), as_json, f"Feed {name} is added: freshet feeds fetch {name}")


@app.command("start")
def start(
    since: Annotated[str, option("YYYY-MM-DD", "The first day of discharge and past weather.")],
    as_json: Json = False,
) -> None:
    """Add the usual feeds if missing, and fetch their data of every basin since a given day.

    They are flow (discharge of USGS), past and ahead (past weather and weather forecasts of Open-Meteo).
    """
    with opened() as context, reporting() as reporter:
        days = until_now(day(since), context.clock)
        with context.database.transaction() as session:
            stored = {feed.name for feed in records.list_feeds(session)}
            for name in [name for name in USUAL if name not in stored]:
                _create(Change.at(session, context.clock), name, USUAL[name])
        done: dict[str, list[records.FetchedBasin]] = {}
        problems: dict[str, str] = {}
        for name in USUAL:
            try:
                done[name] = _fetched(context, reporter, name, [], days)
            except Problem as problem:
                problems[name] = str(problem)
                inform(f"{name}: {problem}")
    payload = {name: _payload(fetched) for name, fetched in done.items()}
    text = Group(*(_table(fetched, f"{name}: {_counted(fetched)}") for name, fetched in done.items()))
    answer({"feeds": payload, "problems": problems}, as_json, text)
    _exit([one for fetched in done.values() for one in fetched])
    if problems:
        raise typer.Exit(PARTLY_DONE if done else DataProblem.exit_code)


@app.command("list")
def list_feeds(as_json: Json = False) -> None:
    """List the feeds with their last fetch."""
    with reading() as session:
        stored = records.list_feeds(session)
    columns = {"feed": "name", "from": "origin", "product": "product"}
    columns |= {"last fetch": "last_fetch_at", "last success": "last_success_at", "last error": "last_error"}
    answer_list("feeds", stored, columns, as_json)


@app.command("show")
def show(feed: Name, as_json: Json = False) -> None:
    """Show a feed: its settings, and the result of the last fetch for each basin."""
    with reading() as session:
        stored = records.get(session, feed)
        fetched = records.basins_of(session, stored)
    title = "\n".join(f"{name}: {value}" for name, value in asdict(stored).items() if value is not None)
    payload = asdict(stored) | {"basins": [asdict(one) for one in fetched]}
    for sentence in holes.remarks(feed, fetched)[:MAX_ROWS]:
        inform(sentence)
    answer(payload, as_json, table(_COLUMNS, _rows(fetched), title))


@app.command("fetch")
def fetch(
    feed: Name,
    basin: OnlyBasins = None,
    period: Annotated[str | None, option("FIRST..LAST", "The days to fetch. Default: by the feed's settings.")] = None,
    as_json: Json = False,
) -> None:
    """Fetch new data from a feed and store it. Fetched again, it stores only what is new."""
    days = None if period is None else Period.parse(period)
    with opened() as context, reporting() as reporter:
        done = _fetched(context, reporter, feed, basin or [], days)
    answer(_payload(done), as_json, _table(done, _counted(done)))
    _exit(done)


@app.command("backfill")
def backfill(
    feed: Annotated[str | None, argument("FEED", "A feed of weather forecasts of open-meteo-forecast.")] = None,
    weather: Annotated[
        str | None, option("SOURCE/MODEL", "Instead of a feed: a weather model whose past issues are stored.")
    ] = None,
    days: Annotated[int, option("DAYS", _BACKFILL["days"].description or "")] = _BACKFILL["days"].default,
    horizon: Annotated[int, option("DAYS", _BACKFILL["horizon"].description or "")] = _BACKFILL["horizon"].default,
    as_json: Json = False,
) -> None:
    """Fetch past weather forecasts of a feed, reforecast with them, and recalibrate forecasts at once.

    The forecasts of a new service then rest on a season of past ones. Each step stores as it goes: run again, it
    fetches and computes only what is missing.
    """
    from operations.verification.backfill import backfill as run

    asked = {"feed": feed, "weather": weather, "days": days, "horizon": horizon}
    given = {name: value for name, value in asked.items() if value is not None}
    params = valid(TypeAdapter(BackfillParams), given, "backfill")
    with opened() as context, reporting() as reporter:
        listener = FetchCallbacks(notify=inform)
        done = run(context.database, context.clock, context.settings, params, listener, reporter.show)
        context.record("feed backfilled", feed or done.weather, **done.counts)
    for sentence in done.remarks[:MAX_ROWS]:
        inform(sentence)
    answer(_backfilled(done), as_json, table(("", ""), [*_summary(done)], f"Past forecasts with {done.weather}"))
    if done.remarks:
        raise typer.Exit(PARTLY_DONE)


@app.command("remove")
def remove(feed: Name, as_json: Json = False) -> None:
    """Remove a feed. Its fetched data stay."""
    with changing() as change:
        stored = records.get(change.session, feed)
        records.remove(change.session, stored)
        change.record("feed removed", stored.id, name=stored.name)
    answer({"removed": stored.id}, as_json, f"Feed {feed} is removed. Its fetched data stay.")


def _backfilled(done: "Backfilled") -> dict[str, Any]:
    fitted = [asdict(of) for of in done.fitted]
    return {"weather": done.weather} | done.counts | {"fitted": fitted, "remarks": done.remarks}


def _summary(done: "Backfilled") -> Iterator[tuple[str, object]]:
    counts = done.counts
    if done.issues is not None:
        yield "weather forecasts stored now", counts["issues"]
        yield "stored before", counts["issues_before"]
        yield "not in the service", counts["issues_missing"]
    yield "reforecasts stored now", counts["reforecasts"]
    yield "forecasts of these days stored before", counts["reforecasts_before"]
    for of in done.fitted:
        fit = of.fitted
        yield (
            f"recalibration of {of.version_id}",
            f"T0 {fit.fitted_on}, {counted(fit.issue_days, 'day')}, {counted(fit.days, 'observed flow')}",
        )


def _create(change: Change, name: str, settings: AnyFeedSettings) -> records.Feed:
    feed = records.create(change.session, NewFeed(name=name, settings=settings), None, change.now)
    change.record("feed created", feed.id, name=name)
    return feed


def _fetched(
    context: Context, reporter: Reporter, feed: str, basins: Sequence[str], days: Period | None
) -> list[records.FetchedBasin]:
    """Fetch a feed, show the progress, and return the result for each basin."""

    def show(fetched: records.FetchedBasin, done: int, total: int) -> None:
        reporter.show(feed, done, total, f"{fetched.basin_id} {fetched.status}")

    settings = context.settings
    intake = any_intake(settings, reporter)
    files: list[SourceFile] = []
    listener = FetchCallbacks(show, inform, on_file=files.append)
    database, clock = context.database, context.clock
    fetched = run(database, clock, settings, intake, feed, wanted=basins, period=days, listener=listener)
    context.record("feed fetched", feed, **audit_details.fetched(fetched, files))
    for sentence in holes.remarks(feed, fetched)[:MAX_ROWS]:
        inform(sentence)
    return fetched


def _payload(done: Sequence[records.FetchedBasin]) -> dict[str, Any]:
    return {"counts": records.statuses(done), "basins": [asdict(one) for one in done]}


def _counted(done: Sequence[records.FetchedBasin]) -> str:
    return f"{counted(len(done), 'basin')}: " + ", ".join(
        f"{count} {name}" for name, count in records.statuses(done).items()
    )


def _exit(done: Sequence[records.FetchedBasin]) -> None:
    exit_if_failed(records.statuses(done).get("failed", 0), len(done))


def _table(fetched: Sequence[records.FetchedBasin], title: str) -> Any:
    return first_rows(_COLUMNS, _rows(fetched), title)


def _rows(fetched: Sequence[records.FetchedBasin]) -> list[tuple[object, ...]]:
    return [(one.basin_id, one.status, one.new_days, one.revised_days, one.fetched_at, one.reason) for one in fetched]


def _pair(text: str) -> tuple[str, str]:
    basin, separator, series = text.partition("=")
    if not separator:
        raise InvalidInput("--series does not name a series: write it as BASIN=SERIES.")
    return basin_id(basin), series
