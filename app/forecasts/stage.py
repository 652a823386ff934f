"""/v1/basins/{basin}/forecasts/latest/stage: the latest forecast as stage."""

from datetime import date, datetime

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.ratings import NO_RATING
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts import lookup
from app.forecasts.discharge import Representation
from app.forecasts.forecast import forecast_of
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.lookup import PROBLEMS
from app.forecasts.schemas import DaysOfRun
from app.http.base_schema import Missing
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.json_numbers import gappy_column
from hydrology.base.absent import texts
from hydrology.base.calendar import as_date, day
from hydrology.ratings.rating import M_PER_FT
from records.basins import ratings
from records.forecasts.latest import Latest


class StageOfRun(DaysOfRun):
    """The latest forecast as stage."""

    rating_source: str | None = Field(description="Where the rating table is from.")
    rating_valid_from: date | None = Field(description="The first day that it holds for.")
    stage_of: str | None = Field(
        description="The origin of the published flow that is converted: `calibrated`, or `discharge` without it."
    )
    stage_ft: dict[str, list[float | None]] | None = Field(
        description="Stages by quantile, ft above the gauge's datum; null where the flow is outside the rating or null."
    )
    stage_m: dict[str, list[float | None]] | None = Field(description="The same in metres.")
    missing: Missing


def stage_of_run(session: Session, latest: Latest, at: datetime) -> StageOfRun:
    """Return the latest forecast of a basin as stage."""
    stored = ratings.newest(session, latest.basin.basin_id, day(at.date()))
    forecast = forecast_of(session, latest, Representation("m3/s", members=False, at=at))
    flows, missing = forecast.published or forecast.calibrated or forecast.discharge, missing_in_header(latest.basin)
    discharges = {name: np.array(flow, dtype=np.float64) for name, flow in (flows or {}).items()}
    names = ("stage_of", "stage_ft", "stage_m")
    reasons = dict.fromkeys(("rating_source", "rating_valid_from", *names), NO_RATING) if stored is None else {}
    if flows is None and stored is not None:
        reasons = dict.fromkeys(names, forecast.missing["discharge"])
    converted = {} if stored is None else {name: stored.rating.stage(of) for name, of in discharges.items()}
    if stored is not None:
        outside = [
            flow for of in discharges.values() for flow in of if np.isnan(stored.rating.stage(flow)) > np.isnan(flow)
        ]
        reasons |= dict.fromkeys(names[1:] if outside else (), str(stored.rating.why_no_stage(*outside[:1] or [0.0])))
    return StageOfRun(
        **header(latest, at),
        **days_ahead(latest.run),
        units={"stage_ft": "ft", "stage_m": "m"},
        rating_source=None if stored is None else stored.source,
        rating_valid_from=None if stored is None else as_date(stored.valid_from),
        stage_of=None if not converted else "calibrated" if forecast.calibrated else "discharge",
        stage_ft={name: gappy_column(of / M_PER_FT) for name, of in converted.items()} or None,
        stage_m={name: gappy_column(of) for name, of in converted.items()} or None,
        missing=texts(missing) | reasons,
    )


router = APIRouter(prefix="/basins", tags=["thresholds"])


@router.get(
    "/{basin}/forecasts/latest/stage", summary="Latest forecast as stage", **documented_responses(StageOfRun, *PROBLEMS)
)
def read_stage(session: Reading, clock: ServiceClock, basin: BasinId, answer: JsonAnswer) -> Response:
    """The quantiles of the latest forecast of discharge as stage, ft and m, by the basin's rating of the day. Null with
    the reason where there is no rating, and outside its range."""
    now = clock.now()
    return answer.of(stage_of_run(session, lookup.latest(session, basin, now), now))
