"""`freshet feeds`: which services are asked, for what, and what came of it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, say, table
from freshet.cli.progress import Reporter, reporting
from hydrology.basins import basin_id
from hydrology.calendar import Period
from hydrology.errors import DataProblem, InvalidInput
from jobspec.feeds import ADAPTERS, NewFeed, read_settings
from operations.feeds import Listener
from operations.feeds import fetch as run
from operations.intake import Intake
from records import audit
from records import feeds as records
from records.settings import Settings

MOST_ROWS = 40

app = typer.Typer(help="Add, list, fetch and remove feeds of discharge, weather and forecasts.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="FEED", help="Its name.")]
Basins = Annotated[
    list[str] | None, typer.Option("--basin", metavar="BASIN", help="Only this basin; repeat it for more.")
]


@app.callback()
def feeds() -> None:
    """Say which services are asked, for which basins, and see what came of it."""


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="No other feed has it.")],
    adapter: Annotated[str, typer.Option(metavar="ADAPTER", help=f"One of {', '.join(ADAPTERS)}.")],
    basin: Basins = None,
    product: Annotated[str | None, typer.Option(metavar="NAME", help="What its weather is kept under.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Of Open-Meteo: era5, ecmwf_ifs, ...")] = None,
    members: Annotated[int | None, typer.Option(metavar="COUNT", help="Of an ensemble, control included.")] = None,
    days_back: Annotated[int | None, typer.Option(metavar="DAYS", help="That every fetch asks for again.")] = None,
    days_ahead: Annotated[int | None, typer.Option(metavar="DAYS", help="Of each weather forecast.")] = None,
    series: Annotated[
        list[str] | None, typer.Option(metavar="BASIN=SERIES", help="Where a gauge has several; repeat it for more.")
    ] = None,
    form: Annotated[str | None, typer.Option(metavar="FORM", help="Of nwis: json or rdb.")] = None,
    source: Annotated[
        list[str] | None, typer.Option("--from", metavar="PLACE", help="Of files: a folder, a file or a URL.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add a feed. It is asked by `freshet feeds fetch`, by jobs and by schedules of the kind fetch."""
    said: dict[str, Any] = {
        "adapter": adapter,
        "basins": [basin_id(text) for text in basin] if basin else None,
        "product": product,
        "model": model,
        "members": members,
        "days_back": days_back,
        "days_ahead": days_ahead,
        "series": dict(map(_pair, series)) if series else None,
        "form": form,
        "from": source,
    }
    settings = read_settings({field: value for field, value in said.items() if value is not None})
    with opened() as context, context.database.transaction() as session:
        now = context.clock.wall()
        feed = records.create(session, NewFeed(name=name, settings=settings), None, now)
        audit.record(session, audit.command_line(), "feed made", feed.id, now, name=name)
    answer(asdict(feed), as_json, f"Feed {name} is added: freshet feeds fetch {name}")


@app.command("list")
def list_feeds(as_json: Json = False) -> None:
    """List the feeds with their last fetch."""
    with opened() as context, context.database.reading() as session:
        kept = records.list_feeds(session)
    rows = [(f.name, f.origin, f.product, f.last_fetch_at, f.last_success_at, f.last_error) for f in kept]
    columns = ("feed", "from", "product", "last fetch", "last success", "last error")
    answer({"feeds": [asdict(feed) for feed in kept]}, as_json, table(columns, rows, f"{len(kept)} feeds"))


@app.command("show")
def show(feed: Name, as_json: Json = False) -> None:
    """Show a feed: what it is told, and what came of each basin."""
    with opened() as context, context.database.reading() as session:
        kept = records.get(session, feed)
        fetched = records.basins_of(session, kept)
    title = "\n".join(f"{name}: {value}" for name, value in asdict(kept).items() if value is not None)
    payload = asdict(kept) | {"basins": [asdict(one) for one in fetched]}
    answer(payload, as_json, _table(fetched, title))


@app.command("fetch")
def fetch(
    feed: Name,
    basin: Basins = None,
    period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="The days to ask for. Default: those that the feed says.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a feed for what is new and keep it. Asked again, it stores nothing twice."""
    days = None if period is None else Period.parse(period)
    with opened() as context, reporting() as reporter:

        def show(fetched: records.FetchedBasin, done: int, total: int) -> None:
            reporter.show("basins", done, total, f"{fetched.basin_id} {fetched.status}")

        settings = context.settings
        intake = any_intake(settings, reporter)
        wanted = [basin_id(text) for text in basin or []]
        listener = Listener(show, say)
        done = run(context.database, context.clock, settings, intake, feed, wanted, days, listener)
        context.record("feed fetched", feed, **records.statuses(done))
    _tell(done, as_json)


@app.command("remove")
def remove(feed: Name, as_json: Json = False) -> None:
    """Remove a feed. What it brought stays."""
    with opened() as context, context.database.transaction() as session:
        kept = records.get(session, feed)
        records.remove(session, kept)
        audit.record(session, audit.command_line(), "feed removed", kept.id, context.clock.wall(), name=kept.name)
    answer({"removed": kept.id}, as_json, f"Feed {feed} is removed. What it brought stays.")


def any_intake(settings: Settings, reporter: Reporter) -> Intake:
    """Return where a command may read files from: anywhere. Downloads are shown."""

    def show(received: int, size: int | None) -> None:
        reporter.show("download", received, size or received, "bytes")

    return Intake(settings.data / "downloads", settings.ingest_hosts, None, show, lambda _name: None)


def _tell(done: Sequence[records.FetchedBasin], as_json: bool) -> None:
    counts = records.statuses(done)
    title = f"{len(done)} basins: " + ", ".join(f"{count} {status}" for status, count in counts.items())
    if len(done) > MOST_ROWS:
        title += f"; the first {MOST_ROWS} of them (--json tells all)"
    payload = {"counts": counts, "basins": [asdict(one) for one in done]}
    answer(payload, as_json, _table(done[:MOST_ROWS], title))
    if failed := counts.get("failed"):
        raise typer.Exit(PARTLY_DONE if failed < len(done) else DataProblem.exit_code)


def _table(fetched: Sequence[records.FetchedBasin], title: str) -> Any:
    rows = [(one.basin_id, one.status, one.new_days, one.revised_days, one.fetched_at, one.reason) for one in fetched]
    return table(("basin", "status", "new days", "revised days", "last fetched", "why"), rows, title)


def _pair(text: str) -> tuple[str, str]:
    basin, separator, series = text.partition("=")
    if not separator:
        raise InvalidInput("--series names no series: write it as BASIN=SERIES.")
    return basin_id(basin), series
