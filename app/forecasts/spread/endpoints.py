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
    summary="Sources of forecast spread: weights, weather or initial state",
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
    """The spread of discharge over members and traces on each day ahead, and the shares of its variance due to the
    network's weights, the weather after T0 and the water in the basin at T0. Only for forecasts with
    `perturbed_states`; for others null, with the reason."""
    latest, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.spread(session, latest, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_spread(answer, places), places)
