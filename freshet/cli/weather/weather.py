"""`freshet weather`: stored weather forecasts."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.answers import Columns, listing
from freshet.cli.context import opened
from freshet.cli.options import argument, option
from freshet.cli.output import PARTLY_DONE, Json, answer, inform
from freshet.cli.progress import reporting
from freshet.cli.reading import Reading, Shown, cut, reads
from hydrology.base.basins import basin_id
from hydrology.base.errors import counted

app = typer.Typer(no_args_is_help=True)

_ISSUES: Columns = {"weather": "id", "source": "source", "model": "model", "reference time": "reference_time"}
_ISSUES |= {"licence": "licence", "credit": "credit"}


@app.callback()
def weather() -> None:
    """Add and list weather forecasts, which drive forecasts after T0."""


@app.command("add")
def add(
    file: Annotated[
        Path, argument("FILE", "CSV, JSON or NetCDF-CF, by the end of its name; or a folder of such files.")
    ],
    as_json: Json = False,
) -> None:
    """Store the weather forecast in a file, or those in the files of a folder and below it.

    Adding the same file again changes nothing, so a folder goes on where it was interrupted. Stored weather forecasts
    never change: another one of the same source, model and reference time is refused. A basin with unusable weather is
    reported, and the others are stored.
    """
    from operations.weather.import_forecasts import add as run

    if file.is_dir():
        _add_folder(file, as_json)
        return
    with opened() as context:
        stored = run(context, file)
        context.record("weather added", stored.issue_id, new=len(stored.new), known=len(stored.known))
    for reason in stored.refused.values():
        inform(f"Refused: {reason}")
    for basin, odd in stored.warnings.items():
        inform(f"Warning: {basin}: {' '.join(odd)}")
    text = (
        f"Weather forecast {stored.issue_id}: {counted(len(stored.new), 'basin')} new, {len(stored.known)} "
        "stored already."
    )
    answer(asdict(stored), as_json, text)
    if stored.refused:
        raise typer.Exit(PARTLY_DONE)


def _add_folder(folder: Path, as_json: bool) -> None:
    from operations.weather.import_forecasts import add_folder

    with opened() as context, reporting() as reporter:

        def show(name: str, done: int, total: int) -> None:
            reporter.show("weather forecasts", done, total, name)

        imported = add_folder(context, folder, show)
        counts = imported.counts
        context.record("weather added", folder.name, **counts)
    for name, stored in imported.stored.items():
        for reason in stored.refused.values():
            inform(f"Refused: {reason}")
        for basin, odd in stored.warnings.items():
            inform(f"Warning: {name}: {basin}: {' '.join(odd)}")
    for name, reason in imported.failed.items():
        inform(f"Refused: {name}: {reason}")
    text = (
        f"{counted(counts['files'], 'weather forecast')}: {counted(counts['new'], 'basin')} new, "
        f"{counts['known']} stored already"
    )
    answer(counts | {"refused": imported.refused}, as_json, f"{text}.")
    if imported.refused:
        raise typer.Exit(PARTLY_DONE)


@app.command("list")
@reads
def list_(
    at: Reading,
    basin: Annotated[
        str | None, option("BASIN", "Only weather forecasts that include this basin.", parser=basin_id)
    ] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of weather forecasts.", min=1, max=10_000)] = 20,
) -> Shown:
    """List the weather forecasts known by the clock, the last stored first."""
    from app.weather.schemas import WeatherPage
    from app.weather.service import summaries
    from records.weather.weather_issues import list_issues

    rows, following = cut(
        list_issues(at.session, at.now, basin=basin, limit=limit + 1), limit, "/v1/weather", lambda issue: issue.id
    )
    found = WeatherPage(weather=summaries(rows), next=following)
    return Shown(found, lambda: listing(found.weather, _ISSUES, counted(len(rows), "weather forecast")))
