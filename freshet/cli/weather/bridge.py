"""`freshet bridge`: correct a live weather product towards the one a network learnt from."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from freshet.cli.answers import Columns, listing
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import argument
from freshet.cli.output import inform
from freshet.cli.reading import Reading, Shown, reads
from hydrology.weather.bridge import PRECIPITATION
from jobspec.jobs.data import BridgeJob

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, argument("BRIDGE", "Its name, or the id of one of its fits.")]
_BRIDGES: Columns = {"bridge": "name", "from": "from_product", "to": "to_product", "forecasts of": "model"}
_BRIDGES |= {"first day": "first_day", "last day": "last_day", "fitted at": "created_at", "id": "id"}
_RAIN = f"held_out.variables.{PRECIPITATION}"
_BASINS: Columns = {"basin": "basin", "pooled because": "pooled_reason", "day offset": "day_offset"}
_BASINS |= {"r as it is": f"{_RAIN}.as_it_is.correlation", "r bridged": f"{_RAIN}.bridged.correlation"}
_BASINS |= {"bias bridged": f"{_RAIN}.bridged.bias", "applied": "applied_at"}


@app.callback()
def bridge() -> None:
    """Fit, list, show and apply bridges between products of weather."""


@app.command("fit")
@job_command(BridgeJob, Layout(arguments=("name",), group="fit"), partly=["refused_basins"])
def fit(done: Done) -> Iterator[RenderableType]:
    """Fit a bridge, report its skill on water years left out of the fit, and apply it.

    A basin with too few common days of both products gets the median bridge of similar basins. A bridge of weather
    forecasts is applied when they are used.
    """
    from app.weather.bridges.service import detail

    yield _detail(detail(done.session, done.result["bridge"]))
    yield from _applied(done)


@app.command("list")
@reads
def list_bridges(at: Reading) -> Shown:
    """List the bridges, of each the newest fit."""
    from app.weather.bridges.schemas import Bridges
    from app.weather.bridges.service import summaries

    found = Bridges(bridges=summaries(at.session))
    return Shown(found, lambda: listing(found.bridges, _BRIDGES, f"{len(found.bridges)} bridges"))


@app.command("show")
@reads
def show(at: Reading, bridge: Name) -> Shown:
    """Show a bridge: its corrections and its skill in each basin."""
    from app.weather.bridges.service import detail

    found = detail(at.session, bridge)
    return Shown(found, lambda: _detail(found))


@app.command("apply")
@job_command(BridgeJob, Layout(arguments=("name",), left_out=("fit",)))
def apply(done: Done) -> Iterator[RenderableType]:
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
