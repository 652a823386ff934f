"""`freshet weather`: the weather forecasts that are kept."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import PARTLY_DONE, Json, answer, inform, table
from hydrology.base.basins import basin_id
from records.weather import weather_issues as records

app = typer.Typer(no_args_is_help=True)


@app.callback()
def weather() -> None:
    """Add and list weather forecasts, which drive forecasts after T0."""


@app.command("add")
def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSON or NetCDF-CF, by the end of its name.")],
    as_json: Json = False,
) -> None:
    """Keep the weather forecast of a file.

    The same again stores nothing. What is kept never changes: another of the same source, model and reference time is
    refused. A basin whose weather cannot be used is told, and the others are kept.
    """
    from operations.weather.import_forecasts import add as run

    with opened() as context:
        stored = run(context.database, context.clock, file)
        context.record("weather added", stored.issue_id, new=len(stored.new), known=len(stored.known))
    for reason in stored.refused.values():
        inform(f"Refused: {reason}")
    for basin, odd in stored.warnings.items():
        inform(f"Warning: {basin}: {' '.join(odd)}")
    text = f"Weather forecast {stored.issue_id}: {len(stored.new)} basins new, {len(stored.known)} kept already."
    answer(asdict(stored), as_json, text)
    if stored.refused:
        raise typer.Exit(PARTLY_DONE)


@app.command("list")
def list_(
    basin: Annotated[str | None, typer.Option(metavar="BASIN", help="Those that hold this basin.")] = None,
    limit: Annotated[int, typer.Option(metavar="COUNT", min=1, max=10_000, help="At most so many.")] = 20,
    as_json: Json = False,
) -> None:
    """List the weather forecasts that are known by the clock, the last kept first."""
    with opened(reads=True) as context, context.database.reading() as session:
        wanted = None if basin is None else basin_id(basin)
        issues = records.list_issues(session, context.clock.now(), basin=wanted, limit=limit)
    columns = ("weather", "source", "model", "reference time", "licence", "credit")
    rows = [(i.id, i.source, i.model, i.reference_time, i.licence, i.credit) for i in issues]
    title = f"{len(issues)} weather forecasts"
    answer({"weather": [asdict(issue) for issue in issues]}, as_json, table(columns, rows, title))
