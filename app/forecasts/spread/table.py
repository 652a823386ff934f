"""The spread of a forecast as a table: a row for each day."""

from collections.abc import Mapping

from app.exports.table import Column, Table
from app.forecasts.spread.schemas import SpreadOfRun, SpreadShares
from app.forecasts.table import day_columns, run_columns
from records.basins.basins import Site


def of_spread(answer: SpreadOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the spread of discharge on the days ahead, and its sources."""
    rows = len(answer.time)
    nothing: list[float | None] = [None] * rows
    shares = [
        Column(
            f"share_of_{source}",
            f"share of the variance due to the {source}",
            "number",
            nothing if answer.shares is None else getattr(answer.shares, source),
            "1",
        )
        for source in SpreadShares.model_fields
    ]
    deviation = Column(
        "standard_deviation", "of the discharge", "number", answer.standard_deviation or nothing, "mm/day"
    )
    columns = [*run_columns(answer, sites, rows), *day_columns(answer.time, answer.lead_days), deviation, *shares]
    return Table(f"{answer.basin}_spread_{answer.t0}", f"Spread of the discharge of {answer.basin}", columns)
