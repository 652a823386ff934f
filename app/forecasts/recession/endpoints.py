"""/v1/basins/{basin}/drain-down"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts import lookup
from app.forecasts.recession import service, table
from app.forecasts.recession.schemas import DrainDownOfRun
from app.http.conditional import NOT_MODIFIED, IfNoneMatch
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.discharge_units import NoArea, refused
from app.http.problems import documented
from hydrology.base.units import Units
from jobspec.fields import DayField
from records.basins.basins import UnknownBasin, sites
from records.forecasts import recession
from records.forecasts.latest import NoForecast, NoModel
from records.forecasts.recession import NotDry
from records.runs.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["water"])

FlowUnits = Annotated[Units, Query(description="The unit of discharge, and of the levels.")]
FromT0 = Annotated[DayField | None, Query(description="The newest run with this T0; by default the newest of all.")]


@router.get(
    "/{basin}/drain-down",
    summary="Recession without further rain, and the day of low flow",
    responses=NOT_MODIFIED
    | documented(UnknownBasin, NoModel, NoForecast, UnknownRun, NotDry, NoArea)
    | documented_formats(*SERIES),
    response_model=DrainDownOfRun,
    response_model_exclude_unset=True,
)
def read_drain_down(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    t0: FromT0 = None,
    run: ChosenRun = None,
    units: FlowUnits = "m3/s",
    if_none_match: IfNoneMatch = None,
) -> DrainDownOfRun | Response:
    """Runoff of the water stored in the basin at T0, if no more rain or snow fell and all other weather were the mean
    of other years: discharge for each day; runoff, loss and remaining water after 10, 30, 90 and 180 days; and the
    first day on which flow is below each low level. The weather is hypothetical, so this is not a forecast. From the
    newest run with dry weather (a job `forecast` with `weather` dry creates one), or from the run named. Fields about
    stored water are null, with the reason, for networks that do not conserve mass."""
    if t0 is not None and run is not None:
        raise refused("t0", "a run has its own T0: leave out either `t0` or `run`.")
    if run is None:
        now = clock.now()
        shown = service.recession_of_run(session, recession.newest(session, basin, now, t0), now, units)
    else:
        named = lookup.of_run(session, run, basin)
        recession.require_dry(named.run)
        shown = service.recession_of_run(session, named, None, units)
    places = sites(session, [basin])
    return answered(chosen, shown, response, if_none_match, lambda: table.of_drain_down(shown, places), places)
