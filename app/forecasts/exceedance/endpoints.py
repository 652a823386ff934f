"""/v1/basins/{basin}/exceedance"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.exceedance import service
from app.forecasts.exceedance.schemas import ExceedanceOfRun
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.http.dependencies import Reading
from app.http.discharge_units import NoArea
from hydrology.base.units import Units

router = APIRouter(prefix="/basins", tags=["forecasts"])

LevelUnits = Annotated[Units, Query(description="The unit of every level.")]
Discharge = Annotated[
    float | None,
    Query(
        description="A level in `units`, passed upwards; by default the levels of the basin.",
        gt=0,
        le=1e9,
        examples=[85.0],
    ),
]


@router.get(
    "/{basin}/exceedance",
    summary="Exceedance probability of discharge levels",
    **documented_responses(ExceedanceOfRun, *PROBLEMS, NoArea),
)
def read_exceedance(
    session: Reading, asked: AskedRun, answer: JsonAnswer, units: LevelUnits = "m3/s", discharge: Discharge = None
) -> Response:
    """The chance that the day's mean flow passes a level, for each day ahead and for any of them: of the floods, low
    flows and operators' levels in `thresholds`, or of a requested discharge, by the calibrated flow of a forecast,
    adjusted where a forecaster has published that; null, with the reason, if it is not calibrated. The levels of the
    version's own simulation are compared with the uncalibrated members."""
    return answer.of(service.exceedance(session, *asked, units, discharge))
