"""/v1/basins/{basin}/storage and /v1/basins/{basin}/water-balance"""

from fastapi import APIRouter, Response

from app.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch, tagged
from app.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts import lookup
from app.problems import documented
from app.water import service, table
from app.water.schemas import BalanceOfRun, StorageOfRun
from records.basins import UnknownBasin, sites
from records.latest import NoForecast, NoModel
from records.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["water"])

RESPONSES = NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, UnknownRun)


@router.get(
    "/{basin}/storage",
    summary="How much water is stored in a basin, and how much of it reads as snow",
    responses=RESPONSES | documented_formats(*SERIES),
    response_model=StorageOfRun,
    response_model_exclude_unset=True,
)
def read_storage(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> StorageOfRun | Response:
    """Water in the basin at the end of each day ahead, mm: all of it, the part in cells that read as snow, and the
    rest. The model was not trained on snow, so `snow_skill` says how well those cells follow reference snow. Null,
    with the reason, for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.storage(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_storage(answer, places), places)


@router.get(
    "/{basin}/water-balance",
    summary="Whether every millimetre of water is accounted for",
    responses=RESPONSES,
    response_model=BalanceOfRun,
    response_model_exclude_unset=True,
)
def read_water_balance(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> BalanceOfRun | Response:
    """The water balance from T0 to the end of the horizon, mm, of every member: precipitation, discharge, loss and
    change of storage, what they leave over, how much may be left, and whether it closes. A basin with an open balance
    is withheld: ask for its run to see it. Null, with the reason, for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    keep = SHORTLY if run is None else FOR_EVER
    return tagged(service.balance(session, found, at), response, if_none_match, keep)
