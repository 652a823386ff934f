"""What a basin would give if nothing more fell, as a table: a row a day."""

from collections.abc import Mapping

from app.exports.table import Column, Table
from app.forecasts.recession.schemas import DrainDownOfRun
from app.forecasts.table import UNCALIBRATED, day_columns, quantile_columns, run_columns
from records.basins.basins import Site
from records.runs.runs import QUANTILES

_AMOUNTS = {
    "runs_off": "what has run off since t0, the mean of the members",
    "lost": "what has left otherwise than through the river since t0, the mean of the members",
    "left": "what is still stored at the end of the day, the mean of the members",
}


def of_drain_down(answer: DrainDownOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the course of the discharge, and what has become of the water by each day."""
    rows = len(answer.time)
    amounts = {name: getattr(answer, name) or [None] * rows for name in _AMOUNTS}
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *quantile_columns("discharge", UNCALIBRATED, answer.discharge, QUANTILES, answer.units["discharge"], rows),
        *(Column(name, _AMOUNTS[name], "number", values, "mm") for name, values in amounts.items()),
    ]
    return Table(f"{answer.basin}_drain_down_{answer.t0}", f"{answer.basin} if nothing more fell", columns)
