"""/v1/basins/{basin}/spread: the spread of a forecast's discharge, and its sources."""

from datetime import datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.header import DaysOfRun, header_of_days, run_table
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column, maybe
from app.http.dependencies import Reading
from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
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
    missing: Missing = EXPLAINED


TABLE = run_table("spread", "Spread of the discharge of {0.basin}")
router = APIRouter(prefix="/basins", tags=["forecasts"])


def _answer(session: Session, latest: Latest, at: datetime | None) -> SpreadOfRun:
    run, basin = latest.run, latest.basin
    variance = runs.series_of(session, run.id, basin.basin_id, (run_types.VARIANCE,)).get(run_types.VARIANCE)
    why = basin.reason or basin.pruned or absent(Reason.SPREAD_NOT_DIVIDED)
    return SpreadOfRun(
        **header_of_days(latest, at),
        units={"standard_deviation": "mm/day"},
        standard_deviation=maybe(variance or why, _deviation),
        shares=maybe(variance or why, _shares),
    )


def _deviation(variance: run_arrays.RunSeries) -> list[float]:
    return json_numbers.column(np.sqrt(variance.values.sum(axis=0, dtype=np.float64)))


def _shares(variance: run_arrays.RunSeries) -> SpreadShares:
    values = variance.values.astype(np.float64)
    whole = values.sum(axis=0)
    shares = np.divide(values, whole, out=np.full_like(values, np.nan), where=whole > 0)
    return SpreadShares(
        **{source: json_numbers.gappy_column(row) for source, row in zip(variance.axes["source"], shares, strict=True)}
    )


@router.get(
    "/{basin}/spread",
    summary="Sources of forecast spread: weights, weather or initial state",
    **documented_responses(SpreadOfRun, *PROBLEMS, formats=SERIES),
)
def read_spread(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The spread of discharge over members and traces on each day ahead, and the shares of its variance due to the
    network's weights, the weather after T0 and the water in the basin at T0. Only for forecasts with
    `perturbed_states`; for others null, with the reason."""
    return answer.of_basin(_answer(session, *asked), TABLE)
