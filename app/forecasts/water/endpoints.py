"""/v1/basins/{basin}/storage, /origin, /age, /water-balance and /long-term-balance"""

from fastapi import APIRouter, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts import lookup
from app.forecasts.water import long_term, service, table
from app.forecasts.water.schemas import AgeOfRun, BalanceOfRun, LongTermBalance, OriginOfRun, StorageOfRun
from app.http.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch, tagged
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.problems import documented
from records.basins.basins import UnknownBasin, sites
from records.forecasts.latest import NoForecast, NoModel
from records.runs.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["water"])

RESPONSES = NOT_MODIFIED | documented(UnknownBasin, NoModel, NoForecast, UnknownRun)


@router.get(
    "/{basin}/storage",
    summary="Water stored in a basin, and the part read as snow",
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
    """Water in the basin at the end of each day ahead, mm: all of it, the part in cells read as snow, and the rest. The
    model was not trained on snow; `snow_skill` gives the skill of those cells against reference snow. Null, with the
    reason, for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.storage(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_storage(answer, places), places)


@router.get(
    "/{basin}/origin",
    summary="Origin of the coming discharge: stored water or future rain",
    responses=RESPONSES | documented_formats(*SERIES),
    response_model=OriginOfRun,
    response_model_exclude_unset=True,
)
def read_origin(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> OriginOfRun | Response:
    """The discharge of each day ahead by the place of its water at T0, mm/day: stored in the basin, as snow or
    otherwise, or yet to fall. The model's own water is traced through its cells. Water in the cells read as snow counts
    as snow; the model was not trained on it. Null, with the reason, for networks that do not conserve mass; without
    snow cells, stored water is one part."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.origin(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_origin(answer, places), places)


@router.get(
    "/{basin}/age",
    summary="Age of the coming discharge, by season of precipitation",
    responses=RESPONSES | documented_formats(*SERIES),
    response_model=AgeOfRun,
    response_model_exclude_unset=True,
)
def read_age(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> AgeOfRun | Response:
    """The discharge of each day ahead by the season in which its water fell, mm/day: in that of T0, in one of the four
    before it, earlier, or after T0. The model's own water is traced through its cells from more than a year before T0.
    Null, with the reason, if the run did not request it (`age` of a job `forecast`), if the record is shorter than a
    year, and for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.age(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_age(answer, places), places)


@router.get(
    "/{basin}/water-balance",
    summary="Water balance of the forecast",
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
    storage change, the residual and its tolerance, and whether it closes. A basin whose balance does not close is
    withheld: ask for its run to see it. Null, with the reason, for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    wanted = SHORTLY if run is None else FOR_EVER
    return tagged(service.balance(session, found, at), response, if_none_match, wanted)


@router.get(
    "/{basin}/long-term-balance",
    summary="Long-term water balance, with observed runoff",
    responses=RESPONSES,
    response_model=LongTermBalance,
    response_model_exclude_unset=True,
)
def read_long_term_balance(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    run: ChosenRun = None,
    if_none_match: IfNoneMatch = None,
) -> LongTermBalance | Response:
    """Mean annual precipitation, runoff and loss, mm, over all days from the empty store to T0, with the observed
    runoff of that time. The residual over that time is in `/water-balance`. Null, with the reason, for networks that do
    not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    return tagged(long_term.long_term(session, found, at), response, if_none_match, SHORTLY)
