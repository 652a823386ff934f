"""A simulation as a table: a row for each day."""

from collections.abc import Mapping
from typing import Any

from app.exports.basins import NOWHERE, basin_columns
from app.exports.table import RIVER_FLOW, Column, Table, constant, numbers
from app.versions.simulation.schemas import Simulation
from records.basins.basins import Site


def of_simulation(answer: Simulation, sites: Mapping[str, Site]) -> Table:
    """Return the simulated and the observed flow of an evaluation."""
    rows = len(answer.time)
    cf: dict[str, Any] = {} if answer.units == "mm/day" else {"standard_name": RIVER_FLOW, "cell_methods": "time: mean"}
    columns = [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        constant("version", "identifier of the model version", "text", answer.version, rows),
        constant("scored", "the version whose simulation this is", "text", answer.scored, rows),
        constant("evaluated_at", "when it was computed", "instant", answer.evaluated_at, rows),
        Column("time", "day", "day", answer.time),
        numbers("simulated", "simulated discharge, mean of the members", answer.simulated, rows, answer.units, **cf),
        numbers("observed", "observed discharge", answer.observed, rows, answer.units, **cf),
    ]
    name = f"{answer.basin}_simulation_{answer.scored}_{answer.time[0]}_{answer.time[-1]}"
    return Table(name, f"Simulated and observed flow of {answer.basin}", columns)
