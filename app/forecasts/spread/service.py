"""Builds the answer about the spread of a forecast."""

from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.spread.schemas import SpreadOfRun, SpreadShares
from app.http.json_numbers import column, gappy_column
from records.forecasts.latest import Latest
from records.runs import runs

NOT_DIVIDED = "The run did not divide its spread: forecast with perturbed_states."


def spread(session: Session, latest: Latest, at: datetime | None) -> SpreadOfRun:
    """Return the sources of a run's spread; `at` is the clock's time for a latest answer."""
    run, basin = latest.run, latest.basin
    variance = runs.series_of(session, run.id, basin.basin_id, (runs.VARIANCE,)).get(runs.VARIANCE)
    missing = missing_in_header(basin)
    if variance is None:
        missing |= dict.fromkeys(("standard_deviation", "shares"), basin.reason or basin.pruned or NOT_DIVIDED)
    return SpreadOfRun(
        **header(latest, at),
        **days_ahead(run),
        units={"standard_deviation": "mm/day"},
        standard_deviation=None if variance is None else column(np.sqrt(variance.values.sum(axis=0, dtype=np.float64))),
        shares=None if variance is None else _shares(variance),
        missing=missing,
    )


def _shares(variance: runs.RunSeries) -> SpreadShares:
    values = variance.values.astype(np.float64)
    whole = values.sum(axis=0)
    shares = np.divide(values, whole, out=np.full_like(values, np.nan), where=whole > 0)
    return SpreadShares(
        **{source: gappy_column(row) for source, row in zip(variance.axes["source"], shares, strict=True)}
    )
