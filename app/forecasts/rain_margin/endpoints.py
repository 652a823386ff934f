"""/v1/basins/{basin}/rain-margin"""

from fastapi import APIRouter, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.exceedance.endpoints import Discharge, LevelUnits
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.rain_margin import service
from app.forecasts.rain_margin.schemas import RainMarginOfRun
from app.http.dependencies import Reading
from app.http.discharge_units import NoArea

router = APIRouter(prefix="/basins", tags=["forecasts"])


@router.get(
    "/{basin}/rain-margin",
    summary="Rain that takes flow to each level",
    **documented_responses(RainMarginOfRun, *PROBLEMS, NoArea),
)
def read_rain_margin(
    session: Reading, asked: AskedRun, answer: JsonAnswer, units: LevelUnits = "m3/s", discharge: Discharge = None
) -> Response:
    """How many millimetres of rain within 1, 2 or 3 days, starting on each of the next days, take the day's mean flow
    to a level: to the floods and rising operators' levels in `thresholds`, or to a requested discharge. Computed from
    the water in the basin at T0 when an operational run is issued: the rain falls evenly over the days of its window,
    no other rain falls, and all other weather is the mean of the forecast. Flow is corrected by the error model from
    the last observed flow, as the forecast's is; that compared with levels of the version's own simulation
    (`model-...`) is as it was simulated. Median and range are of the model's members."""
    return answer.of(service.rain_margin_of_run(session, *asked, units, discharge))
