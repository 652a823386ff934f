"""`freshet weather` and `freshet bridge`: stored weather forecasts, and bridges between products of weather."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from freshet.cli.context import opened
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import argument, option
from freshet.cli.output import PARTLY_DONE, Columns, Json, answer, inform, listing, reporting
from freshet.cli.reading import Reading, Shown, cut, reads
from hydrology.base.basins import basin_id
from hydrology.base.errors import counted
from hydrology.weather.bridge import PRECIPITATION
from jobspec.jobs.data import BridgeJob

_ISSUES: Columns = {"weather": "id", "source": "source", "model": "model", "reference time": "reference_time"}
_ISSUES |= {"licence": "licence", "credit": "credit"}


def add_weather(
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


@reads
def list_weather(
    at: Reading,
    basin: Annotated[
        str | None, option("BASIN", "Only weather forecasts that include this basin.", parser=basin_id)
    ] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of weather forecasts.", min=1, max=10_000)] = 20,
) -> Shown:
    """List the weather forecasts known by the clock, the last stored first."""
    from app.weather.weather import WeatherPage
    from records.weather.weather_issues import list_issues

    rows, following = cut(
        list_issues(at.session, at.now, basin=basin, limit=limit + 1), limit, "/v1/weather", lambda issue: issue.id
    )
    found = WeatherPage(weather=list(rows), next=following)
    return Shown(found, lambda: listing(found.weather, _ISSUES, counted(len(rows), "weather forecast")))


Name = Annotated[str, argument("BRIDGE", "Its name, or the id of one of its fits.")]
_BRIDGES: Columns = {"bridge": "name", "from": "from_product", "to": "to_product", "forecasts of": "model"}
_BRIDGES |= {"first day": "first", "last day": "last", "fitted at": "created_at", "id": "id"}
_RAIN = f"held_out.variables.{PRECIPITATION}"
_BASINS: Columns = {"basin": "basin", "pooled because": "pooled_reason", "day offset": "day_offset"}
_BASINS |= {"r as it is": f"{_RAIN}.as_it_is.correlation", "r bridged": f"{_RAIN}.bridged.correlation"}
_BASINS |= {"bias bridged": f"{_RAIN}.bridged.bias", "applied": "applied_at"}


@job_command(BridgeJob, Layout(arguments=("name",), group="fit"), partly=["refused_basins"])
def fit_bridge(done: Done) -> Iterator[RenderableType]:
    """Fit a bridge, report its skill on water years left out of the fit, and apply it.

    A basin with too few common days of both products gets the median bridge of similar basins. A bridge of weather
    forecasts is applied when they are used.
    """
    from app.weather.bridges import detail

    yield _detail(detail(done.session, done.result["bridge"]))
    yield from _applied(done)


@reads
def list_bridges(at: Reading) -> Shown:
    """List the bridges, of each the newest fit."""
    from app.weather.bridges import list_newest

    found = list_newest(at.session)
    return Shown(found, lambda: listing(found.bridges, _BRIDGES, f"{len(found.bridges)} bridges"))


@reads
def show_bridge(at: Reading, bridge: Name) -> Shown:
    """Show a bridge: its corrections and its skill in each basin."""
    from app.weather.bridges import detail

    found = detail(at.session, bridge)
    return Shown(found, lambda: _detail(found))


@job_command(BridgeJob, Layout(arguments=("name",), left_out=("fit",)))
def apply_bridge(done: Done) -> Iterator[RenderableType]:
    """Compute the bridge's product from the stored weather. Applied again, it stores only what is new."""
    yield from _applied(done)


def _applied(done: Done) -> Iterator[RenderableType]:
    if counts := done.result.get("counts"):
        yield f"{done.params.name}: " + ", ".join(f"{count} {status}" for status, count in counts.items())


def _detail(found: Any) -> RenderableType:
    for basin, reason in found.refused.items():
        inform(f"Not fitted: {basin}: {reason}")
    title = f"{found.name} ({found.id}): from {found.from_product} to {found.to_product}"
    return listing(found.basins, _BASINS, title)
