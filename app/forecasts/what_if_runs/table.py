"""A what-if run and its base as a table: a row for each day."""

from collections.abc import Iterator, Mapping

from app.exports.table import Column, Table, numbers
from app.forecasts.table import day_columns, run_columns
from app.forecasts.what_if_runs.schemas import Flow, Side, WhatIfOfRun
from records.basins.basins import Site


def of_what_if(answer: WhatIfOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the discharge of both runs on the days ahead."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *_flow("base", "without the changes", answer.base, answer.units["discharge"], rows),
        *_flow("changed", "with the changes", answer.changed, answer.units["discharge"], rows),
    ]
    return Table(f"{answer.basin}_what-if_{answer.run}", f"Discharge of {answer.basin}, what if", columns)


def _flow(name: str, meaning: str, side: Side | None, unit: str, rows: int) -> Iterator[Column]:
    for statistic in Flow.model_fields:
        values = None if side is None else getattr(side.discharge, statistic)
        yield numbers(f"discharge_{name}_{statistic}", f"{statistic} of discharge {meaning}", values, rows, unit)
