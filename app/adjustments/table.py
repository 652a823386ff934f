"""A forecast as issued and as adjusted as a table: a row for each day."""

from collections.abc import Mapping

from app.adjustments.schemas import AdjustedForecast
from app.exports.basins import NOWHERE, basin_columns
from app.exports.table import Table, constant, numbers
from app.forecasts.table import day_columns
from records.basins.basins import Site


def of_adjusted(answer: AdjustedForecast, sites: Mapping[str, Site]) -> Table:
    """Return each quantile as issued and as adjusted for each day."""
    rows = len(answer.time)
    columns = [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        constant("adjustment", "identifier of the adjustment", "text", answer.id, rows),
        constant("run", "identifier of the run", "text", answer.run, rows),
        constant("publisher", "who published it", "text", answer.publisher, rows),
        *day_columns(answer.time, answer.lead_days),
    ]
    for name, issued in answer.issued.items():
        unit = answer.units["issued"]
        columns.append(numbers(f"issued_{name}", f"{name} of discharge as issued", issued, rows, unit))
        columns.append(numbers(f"adjusted_{name}", f"{name} as adjusted", answer.adjusted[name], rows, unit))
    return Table(f"{answer.basin}_adjusted_{answer.t0}", f"Adjusted forecast of {answer.basin}", columns)
