"""Water in a basin as a table: a row a day."""

from collections.abc import Mapping

from app.exports.table import Column, Table
from app.forecasts.table import day_columns, run_columns, water_columns
from app.water.schemas import StorageOfRun
from records.basins import Site


def of_storage(answer: StorageOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the water in a basin on the days ahead."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *water_columns(answer.total, answer.snow, rows),
        Column("storage_other", "the rest of the water", "number", answer.other or [None] * rows, "mm"),
    ]
    return Table(f"{answer.basin}_storage_{answer.t0}", f"Water stored in {answer.basin}", columns)
