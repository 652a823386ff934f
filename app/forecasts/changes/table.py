"""The change of a forecast as a table: a row for each day, a column for each cause."""

from collections.abc import Mapping

from app.exports.table import Table, numbers
from app.forecasts.changes.schemas import ChangeByCause, ChangeOfRun
from app.forecasts.table import day_columns, run_columns
from records.basins.basins import Site

_FLOWS = {
    "before": "discharge by the previous forecast",
    "after": "discharge by this forecast",
    "change": "change of the discharge",
}


def of_change(answer: ChangeOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the change of each day and its parts."""
    rows, unit = len(answer.time), answer.units["change"]
    parts = [
        numbers(
            f"{kind}_{cause}",
            f"{meaning} {cause.replace('_', ' ')}",
            None if of_kind is None else getattr(of_kind, cause),
            rows,
            unit,
        )
        for kind, meaning, of_kind in (
            ("part", "part of the change due to", answer.parts),
            ("interaction", "dependence on the order of the part due to", answer.interaction),
        )
        for cause in ChangeByCause.model_fields
    ]
    flows = [numbers(name, meaning, getattr(answer, name), rows, unit) for name, meaning in _FLOWS.items()]
    columns = [*run_columns(answer, sites, rows), *day_columns(answer.time, answer.lead_days), *flows, *parts]
    return Table(f"{answer.basin}_changes_{answer.t0}", f"Change of the forecast of {answer.basin}", columns)
