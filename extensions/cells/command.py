"""`freshet cells`: the water in each cell of a member, computed for every day."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.console import RenderableType

from extensions.cells.endpoints import CellsOfBasin, cells_answer, cells_table, place_of
from freshet.cli.options import Basin, Version, option
from freshet.cli.output import inform, series
from freshet.cli.reading import Reading, Shown, reads_series
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from models.forcing import days_of
from operations.basin_data.dataset import forcings_of
from operations.versions.load_networks import load_version
from records.basins.basins import sites
from records.forecasts.latest import asked_version

ENDINGS = (".png", ".svg")
SHOWN_DAYS, SHOWN_CELLS = 30, 8
"""What a terminal shows; --csv and --json have all."""


@reads_series
def cells(
    at: Reading,
    basin: Basin,
    version: Version = None,
    member: Annotated[str | None, option("NUMBER", "A member. Default: the first.")] = None,
    period: Annotated[str | None, option("FIRST..LAST", "The days. Default: the last year of the weather.")] = None,
    to: Annotated[Path | None, option("FILE", "Write a picture: .png or .svg, by the end of its name.")] = None,
) -> Shown:
    """Show the water in each cell of a member at the end of each day, with observed weather.

    The network runs from the first day of the basin's weather, as the states of forecasts do.
    """
    if to is not None and to.suffix.lower() not in ENDINGS:
        raise InvalidInput(f"--to {to} is not a picture: end its name with {' or '.join(ENDINGS)}.")
    found = _computed(at, basin, version, member, None if period is None else Period.parse(period))
    if to is not None:
        _write_picture(found, to)
        inform(f"Written: {to}")
    title = f"{basin}, version {found.version}, member {found.member}: water in the cells, mm"

    def text() -> RenderableType:
        last = slice(-SHOWN_DAYS, None)
        newest = {name: values[last] for name, values in [*found.cells.items()][:SHOWN_CELLS]}
        part = found.model_copy(update={"time": found.time[last], "total": found.total[last], "cells": newest})
        columns = "all: total" + "".join(f" | cell {name}: cells.{name}" for name in newest)
        return series(part, columns, f"{title} (--csv and --json: all days, all {len(found.cells)} cells)")

    return Shown(found, text, lambda: cells_table(found, sites(at.session, [basin])))


def _computed(at: Reading, basin: str, version: str | None, member: str | None, period: Period | None) -> CellsOfBasin:
    asked = asked_version(at.session, basin, version)
    place = place_of(asked, member)
    loaded = load_version(at.session, asked.id)
    record = forcings_of(at.session, loaded, [basin])[basin]
    if isinstance(record, Absent):
        raise DataProblem(str(record))
    known = record.period
    days = period or Period(max(known.first, known.last - 365), known.last)
    if days.overlap(known) != days:
        raise DataProblem(f"The weather of {basin} has the days {known}, not all of {days}: choose days among them.")
    one, until = loaded.ensemble, Period(known.first, days.last)
    alone = replace(one, labels=(one.labels[place],), networks=(one.networks[place],))
    outputs, _ = alone.simulate(record.forcing.over(until), None, ["storage"])
    water = outputs["storage"][0, 0, days_of(until, days)]
    return cells_answer(at.session, asked, basin, str(one.labels[place]), list(days.days), water)


def _write_picture(found: CellsOfBasin, file: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise InvalidInput("Pictures need matplotlib: pip install matplotlib, or leave --to out.") from error
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.stackplot(np.array(found.time, "datetime64[D]"), list(found.cells.values()), linewidth=0)
    axes.set_title(f"{found.basin}, version {found.version}, member {found.member}: {len(found.cells)} cells")
    axes.set_ylabel("water at the end of the day, mm")
    axes.margins(x=0)
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written ({error.strerror}): choose another file.") from None
