"""/v1/basins/{basin}/drain-down"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts import lookup
from app.forecasts.discharge import NoArea
from app.forecasts.recession import service, table
from app.forecasts.recession.schemas import DrainDownOfRun
from app.http.conditional import NOT_MODIFIED, IfNoneMatch
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.discharge_units import refused
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
FromT0 = Annotated[DayField | None, Query(description="The newest run from this T0; by default that from the newest.")]


@router.get(
    "/{basin}/drain-down",
    summary="What a basin would give if nothing more fell, and when its flow would be low",
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
    """What would run off of the water that a basin held at T0, if no more rain or snow fell and all other weather were
    the mean of other years: the course of the discharge; what has run off, is lost and is left after 10, 30, 90 and 180
    days; and the first day on which flow is below each low level. It is no forecast: nobody expects such weather. Of
    the newest run on a dry spell (a job `forecast` with `weather` dry makes one), or of a run that is named. What of
    the water is concerned is null, with the reason, for networks that do not conserve mass."""
    if t0 is not None and run is not None:
        raise refused("t0", "a run has its own T0: leave out `t0`, or `run`.")
    if run is None:
        now = clock.now()
        shown = service.recession_of_run(session, recession.newest(session, basin, now, t0), now, units)
    else:
        named = lookup.of_run(session, run, basin)
        recession.require_dry(named.run)
        shown = service.recession_of_run(session, named, None, units)
    places = sites(session, [basin])
    return answered(chosen, shown, response, if_none_match, lambda: table.of_drain_down(shown, places), places)
