"""/v1/basins/{basin}/spread: the spread of a forecast's discharge, and its sources."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.series import table_of
from app.exports.table import Table
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.schemas import DaysOfRun
from app.http import json_numbers
from app.http.base_schema import Missing, Model, Series, column
from app.http.dependencies import Reading
from hydrology.base.absent import absent, texts
from hydrology.base.reasons import Reason
from records.basins.basins import Site
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs


class SpreadShares(Model):
    """Shares of the variance of discharge by source; null where the variance is 0."""

    weights: list[float | None] = Field(description=column("The network's weights: its members differ"))
    weather: list[float | None] = Field(description=column("The weather after T0: its traces differ"))
    state: list[float | None] = Field(
        description=column("The water in the basin at T0: past precipitation is uncertain")
    )


class SpreadOfRun(DaysOfRun):
    """Spread of the members' discharge on each day ahead, and its sources."""

    standard_deviation: Annotated[list[float] | None, Series("of the discharge")] = Field(
        description=column(
            "Standard deviation of discharge over all members, weather traces and perturbed states, mm/day. Errors "
            "common to all of them are not included; calibrated quantiles include those too"
        )
    )
    shares: Annotated[SpreadShares | None, Series("share of the variance due to the {}", "1", column="share_of_{}")] = (
        Field(description="Shares of the variance; they add up to 1.")
    )
    missing: Missing


router = APIRouter(prefix="/basins", tags=["forecasts"])


def _answer(session: Session, latest: Latest, at: datetime | None) -> SpreadOfRun:
    run, basin = latest.run, latest.basin
    variance = runs.series_of(session, run.id, basin.basin_id, (run_types.VARIANCE,)).get(run_types.VARIANCE)
    missing = missing_in_header(basin)
    if variance is None:
        missing |= dict.fromkeys(
            ("standard_deviation", "shares"), basin.reason or basin.pruned or absent(Reason.SPREAD_NOT_DIVIDED)
        )
    return SpreadOfRun(
        **header(latest, at),
        **days_ahead(run),
        units={"standard_deviation": "mm/day"},
        standard_deviation=None
        if variance is None
        else json_numbers.column(np.sqrt(variance.values.sum(axis=0, dtype=np.float64))),
        shares=None if variance is None else _shares(variance),
        missing=texts(missing),
    )


def _shares(variance: run_arrays.RunSeries) -> SpreadShares:
    values = variance.values.astype(np.float64)
    whole = values.sum(axis=0)
    shares = np.divide(values, whole, out=np.full_like(values, np.nan), where=whole > 0)
    return SpreadShares(
        **{source: json_numbers.gappy_column(row) for source, row in zip(variance.axes["source"], shares, strict=True)}
    )


def _table(answer: SpreadOfRun, sites: Mapping[str, Site]) -> Table:
    title = f"Spread of the discharge of {answer.basin}"
    return table_of(answer, f"{answer.basin}_spread_{answer.t0}", title, sites)


@router.get(
    "/{basin}/spread",
    summary="Sources of forecast spread: weights, weather or initial state",
    **documented_responses(SpreadOfRun, *PROBLEMS, formats=SERIES),
)
def read_spread(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The spread of discharge over members and traces on each day ahead, and the shares of its variance due to the
    network's weights, the weather after T0 and the water in the basin at T0. Only for forecasts with
    `perturbed_states`; for others null, with the reason."""
    return answer.of_basin(_answer(session, *asked), _table)
