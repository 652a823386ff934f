"""/v1/basins/{basin}/forecasts/latest/stage: the latest forecast as stage."""

from datetime import date, datetime
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.run_levels import NO_RATING
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts import lookup
from app.forecasts.discharge import Representation
from app.forecasts.forecast import BasinForecast, forecast_of
from app.forecasts.header import DaysOfRun, header_of_days
from app.forecasts.lookup import PROBLEMS
from app.http.base_schema import EXPLAINED, Missing, maybe
from app.http.dependencies import AsKnown, BasinId, Reading
from app.http.json_numbers import gappy_column
from hydrology.base.absent import Absent
from hydrology.base.calendar import as_date, day
from hydrology.base.units import M_PER_FT
from hydrology.ratings import Rating
from records.basins import ratings
from records.forecasts.latest import Latest


class StageOfRun(DaysOfRun):
    """The latest forecast as stage."""

    rating_source: str | None = Field(description="Where the rating table is from.")
    rating_valid_from: date | None = Field(description="The first day that it holds for.")
    rating_version: int | None = Field(description="Its version, in `/v1/basins/{basin}/ratings`.")
    stage_of: str | None = Field(
        description="The origin of the published flow that is converted: `calibrated`, or `discharge` without it."
    )
    stage_ft: dict[str, list[float | None]] | None = Field(
        description="Stages by quantile, ft above the gauge's datum; null where the flow is outside the rating or null."
    )
    stage_m: dict[str, list[float | None]] | None = Field(description="The same in metres.")
    missing: Missing = EXPLAINED


def stage_of_run(session: Session, latest: Latest, at: datetime) -> StageOfRun:
    stored = ratings.newest(session, latest.basin.basin_id, day(at.date()), at)
    forecast = forecast_of(session, latest, Representation("m3/s", members=False, at=at))
    return StageOfRun(
        **header_of_days(latest, at),
        units={"stage_ft": "ft", "stage_m": "m"},
        rating_source=maybe(NO_RATING if stored is None else stored.source),
        rating_valid_from=maybe(NO_RATING if stored is None else as_date(stored.valid_from)),
        rating_version=maybe(NO_RATING if stored is None else stored.version),
        **_stages(NO_RATING if stored is None else stored.rating, forecast, latest.basin.why_missing),
    )


def _stages(rating: Rating | Absent, forecast: BasinForecast, why_no_flow: Absent) -> dict[str, Any]:
    flows = forecast.published or forecast.calibrated or forecast.discharge
    if isinstance(rating, Absent) or flows is None:
        why = rating if isinstance(rating, Absent) else why_no_flow
        return dict.fromkeys(("stage_of", "stage_ft", "stage_m"), why)
    discharges = {name: np.array(flow, dtype=np.float64) for name, flow in flows.items()}
    stages = {name: rating.stage(of) for name, of in discharges.items()}
    outside = [flow for of in discharges.values() for flow in of if np.isnan(rating.stage(flow)) > np.isnan(flow)]
    return {
        "stage_of": "calibrated" if forecast.calibrated else "discharge",
        "stage_ft": {name: gappy_column(of / M_PER_FT) for name, of in stages.items()},
        "stage_m": {name: gappy_column(of) for name, of in stages.items()},
        "missing": dict.fromkeys(("stage_ft", "stage_m"), str(rating.why_no_stage(outside[0]))) if outside else {},
    }


router = APIRouter(prefix="/basins", tags=["thresholds"])


@router.get(
    "/{basin}/forecasts/latest/stage", summary="Latest forecast as stage", **documented_responses(StageOfRun, *PROBLEMS)
)
def read_stage(session: Reading, at: AsKnown, basin: BasinId, answer: JsonAnswer) -> Response:
    """The quantiles of the latest forecast of discharge as stage, ft and m, by the basin's rating of the day, as
    known at an instant or now. Null with the reason where there is no rating, and outside its range."""
    return answer.of(stage_of_run(session, lookup.latest(session, basin, at), at))
