"""/v1/basins/{basin}/forecasts/latest/stage"""

from fastapi import APIRouter, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts import lookup
from app.forecasts.lookup import PROBLEMS
from app.forecasts.stage import service
from app.forecasts.stage.schemas import StageOfRun
from app.http.dependencies import BasinId, Reading, ServiceClock

router = APIRouter(prefix="/basins", tags=["thresholds"])


@router.get(
    "/{basin}/forecasts/latest/stage", summary="Latest forecast as stage", **documented_responses(StageOfRun, *PROBLEMS)
)
def read_stage(session: Reading, clock: ServiceClock, basin: BasinId, answer: JsonAnswer) -> Response:
    """The quantiles of the latest forecast of discharge as stage, ft and m, by the basin's rating of the day. Null with
    the reason where there is no rating, and outside its range."""
    now = clock.now()
    return answer.of(service.stage_of_run(session, lookup.latest(session, basin, now), now))
