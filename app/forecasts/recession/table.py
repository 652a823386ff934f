"""Recession without further rain as a table: a row for each day."""

from collections.abc import Mapping

from app.exports.table import Table, numbers
from app.forecasts.recession.schemas import DrainDownOfRun
from app.forecasts.table import UNCALIBRATED, day_columns, quantile_columns, run_columns
from records.basins.basins import Site
from records.runs.run_types import QUANTILES

_AMOUNTS = {
    "runs_off": "water that has run off since t0, mean of the members",
    "lost": "water lost other than through the river since t0, mean of the members",
    "left": "water still stored at the end of the day, mean of the members",
}


def of_drain_down(answer: DrainDownOfRun, sites: Mapping[str, Site]) -> Table:
    """Return discharge, runoff, loss and remaining water for each day."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *quantile_columns("discharge", UNCALIBRATED, answer.discharge, QUANTILES, answer.units["discharge"], rows),
        *(numbers(name, meaning, getattr(answer, name), rows, "mm") for name, meaning in _AMOUNTS.items()),
    ]
    return Table(f"{answer.basin}_drain_down_{answer.t0}", f"Recession of {answer.basin} without further rain", columns)
