"""/v1/basins/{basin}/exceedance"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.forecasts import lookup
from app.forecasts.exceedance import service
from app.forecasts.exceedance.schemas import ExceedanceOfRun
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch, tagged
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.discharge_units import NoArea
from app.http.problems import documented
from hydrology.base.units import Units
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoForecast, NoModel
from records.runs.runs import UnknownRun

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
    responses=NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, UnknownRun, NoArea),
    response_model=ExceedanceOfRun,
    response_model_exclude_unset=True,
)
def read_exceedance(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    run: ChosenRun = None,
    units: LevelUnits = "m3/s",
    discharge: Discharge = None,
    if_none_match: IfNoneMatch = None,
) -> ExceedanceOfRun | Response:
    """The chance that the day's mean flow passes a level, for each day ahead and for any of them: of the floods, low
    flows and operators' levels in `thresholds`, or of a requested discharge, by the calibrated flow of a forecast;
    null, with the reason, if it is not calibrated. The levels of the version's own simulation are compared with the
    uncalibrated members."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    return tagged(service.exceedance(session, found, at, units, discharge), response, if_none_match, SHORTLY)
