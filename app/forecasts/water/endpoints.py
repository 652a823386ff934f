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
    "/{basin}/origin",
    summary="How much of the coming discharge is in a basin already, and how much has yet to fall",
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
    """The discharge of each day ahead by where its water was at T0, mm/day: stored in the basin, as snow or otherwise,
    or yet to fall. The model's own water is followed through its cells, none is guessed from another. What was in the
    cells that read as snow counts as snow; the model was not trained on it. Null, with the reason, for networks that
    do not conserve mass; where no cells read as snow, what is stored is one part."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.origin(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_origin(answer, places), places)


@router.get(
    "/{basin}/age",
    summary="In which season the water of the coming discharge fell",
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
    before it, earlier, or after T0. The model's own water is followed through its cells for the year and more before
    T0, none is guessed from another. Null, with the reason, where the run was not asked for it (`age` of a job
    `forecast`), where the record is younger than a year, and for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    answer, places = service.age(session, found, at), sites(session, [basin])
    return answered(chosen, answer, response, if_none_match, lambda: table.of_age(answer, places), places)


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
    wanted = SHORTLY if run is None else FOR_EVER
    return tagged(service.balance(session, found, at), response, if_none_match, wanted)


@router.get(
    "/{basin}/long-term-balance",
    summary="Where the water of many years went, beside what the river carried",
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
    """What fell, ran off and was lost in a year, mm, in the mean of all days since the model's store was empty, until
    T0, and the runoff that was observed in that time. What is unexplained in that time is told by `/water-balance`.
    Null, with the reason, for networks that do not conserve mass."""
    found, at = lookup.chosen(session, run, basin, clock.now())
    return tagged(long_term.long_term(session, found, at), response, if_none_match, SHORTLY)
