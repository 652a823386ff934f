"""/v1/basins/{basin}/drain-down"""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.lookup import PROBLEMS, RunAndTime, of_run
from app.forecasts.recession import service, table
from app.forecasts.recession.schemas import DrainDownOfRun
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.discharge_units import NoArea
from app.http.problems import refused
from hydrology.base.units import Units
from jobspec.fields import DayField
from records.forecasts import recession
from records.forecasts.recession import NotDry

router = APIRouter(prefix="/basins", tags=["water"])

FlowUnits = Annotated[Units, Query(description="The unit of discharge, and of the levels.")]
FromT0 = Annotated[DayField | None, Query(description="The newest run with this T0; by default the newest of all.")]


def _dry_run(
    session: Reading, clock: ServiceClock, basin: BasinId, t0: FromT0 = None, run: ChosenRun = None
) -> RunAndTime:
    if run is None:
        return recession.newest(session, basin, clock.now(), t0), clock.now()
    if t0 is not None:
        raise refused("t0", "a run has its own T0: leave out either `t0` or `run`.")
    named = of_run(session, run, basin)
    recession.require_dry(named.run)
    return named, None


@router.get(
    "/{basin}/drain-down",
    summary="Recession without further rain, and the day of low flow",
    **documented_responses(DrainDownOfRun, *PROBLEMS, NotDry, NoArea, formats=SERIES),
)
def read_drain_down(
    session: Reading,
    answer: SeriesAnswer,
    asked: Annotated[RunAndTime, Depends(_dry_run)],
    units: FlowUnits = "m3/s",
) -> Response:
    """Runoff of the water stored in the basin at T0, if no more rain or snow fell and all other weather were the mean
    of other years: discharge for each day; runoff, loss and remaining water after 10, 30, 90 and 180 days; and the
    first day on which flow is below each low level. The weather is hypothetical, so this is not a forecast. From the
    newest run with dry weather (a job `forecast` with `weather` dry creates one), or from the run named. Fields about
    stored water are null, with the reason, for networks that do not conserve mass."""
    return answer.of_basin(service.recession_of_run(session, *asked, units), table.of_drain_down)
