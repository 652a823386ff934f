"""/v1/basins/{basin}/spread"""

from fastapi import APIRouter, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts import lookup
from app.forecasts.spread import service, table
from app.forecasts.spread.schemas import SpreadOfRun
from app.http.conditional import NOT_MODIFIED, IfNoneMatch
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.problems import documented
from records.basins.basins import UnknownBasin, sites
from records.forecasts.latest import NoForecast, NoModel
from records.runs.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["forecasts"])


@router.get(
    "/{basin}/spread",
    summary="What makes a forecast uncertain: the weights, the weather or the state",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, UnknownRun) | documented_formats(*SERIES),
    response_model=SpreadOfRun,
    response_model_exclude_unset=True,
)
def read_spread(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> SpreadOfRun | Response:
    """How far the discharge of members and traces lies apart on each day ahead, and which share of its variance comes
    of the network's weights, of the weather after T0 and of the water in the basin at T0. Of runs that divide it:
    forecasts with `perturbed_states`; null, with the reason, of others."""
    latest, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.spread(session, latest, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_spread(answer, places), places)
