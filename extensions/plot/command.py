"""`freshet plot`: plot a forecast with observed flow, in the terminal or as a picture."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from extensions.plot.briefing import briefing
from extensions.plot.content import Plume, content
from extensions.plot.drawing import drawn
from extensions.plot.picture import ENDINGS, picture, require_picture
from freshet.cli.context import opened
from freshet.cli.output import Json, answer, inform
from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem
from hydrology.base.units import STANDARD
from operations.basin_data.basins import last_ended
from records.basins import basins
from records.forecasts import latest
from records.runs import runs

USUAL_DAYS = 20


def plot(
    basin: Annotated[str, typer.Argument(metavar="BASIN", help="USGS number or full identifier.")],
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="The run to draw. Default: the latest forecast.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture: .png or .svg, by the end of its name.")
    ] = None,
    days: Annotated[
        int, typer.Option(metavar="COUNT", min=1, max=3660, help="Number of days of observed flow up to T0.")
    ] = USUAL_DAYS,
    as_json: Json = False,
) -> None:
    """Plot a basin's forecast with the observed flow before it, in the terminal or as PNG or SVG."""
    if to is not None:
        require_picture(to)
    name = basin_id(basin)
    drawing = None
    with opened(reads=True) as context, context.database.reading() as session:
        now = context.clock.now()
        if run is None:
            newest = latest.latest(session, name, now)
            stored, of_basin = newest.run, newest.basin
            if newest.version_note is not None:
                inform(newest.version_note)
        else:
            stored, of_basin = runs.get(session, run), runs.basin_of(session, run, name)
        if of_basin.status != "issued":
            raise DataProblem(f"Run {stored.id} has no forecast of {name} to draw: {of_basin.reason}")
        plume = content(session, stored, of_basin, days, last_ended(basins.get(session, name), now))
        if to is not None:
            official = context.settings.cap_sender is not None and not context.clock.replays
            drawing = briefing(session, name, run, now, STANDARD, days=days, official=official)
    if drawing is not None and to is not None:
        to.write_bytes(picture(drawing, next(ending for ending in ENDINGS if to.suffix.lower() == f".{ending}")))
    answer(_payload(plume, stored.id, to), as_json, drawn(plume) if to is None else f"{plume.title}: {to}")


def _payload(plume: Plume, run: str, to: Path | None) -> dict[str, Any]:
    observed = [None if np.isnan(flow) else float(flow) for flow in plume.observed]
    return {
        "basin": plume.basin,
        "run": run,
        "t0": plume.t0,
        "unit": plume.unit,
        "observed": {"time": list(plume.days), "discharge": observed},
        "forecast": {"time": list(plume.ahead)}
        | {str(level): plume.quantiles[level].tolist() for level in sorted(plume.quantiles)},
        "quantiles_of": plume.of,
        "notes": plume.notes,
        "picture": None if to is None else str(to),
    }
