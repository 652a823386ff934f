"""/v1/basins/{basin}/storage, /origin, /age, /water-balance and /long-term-balance"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import JsonAnswer, SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.water import long_term, service, table
from app.forecasts.water.schemas import AgeOfRun, BalanceOfRun, LongTermBalance, OriginOfRun, StorageOfRun
from app.http.conditional import FOR_EVER, SHORTLY
from app.http.dependencies import Reading

router = APIRouter(prefix="/basins", tags=["water"])

PastDays = Annotated[
    int, Query(description="Number of days up to T0 whose water is included as `past`.", ge=0, le=366, examples=[30])
]


@router.get(
    "/{basin}/storage",
    summary="Water stored in a basin, and the part read as snow",
    **documented_responses(StorageOfRun, *PROBLEMS, formats=SERIES),
)
def read_storage(session: Reading, answer: SeriesAnswer, asked: AskedRun, past_days: PastDays = 0) -> Response:
    """Water in the basin at the end of each day ahead, mm: all of it, the part in cells read as snow, and the rest. The
    model was not trained on snow; `snow_skill` gives the skill of those cells against reference snow. With `past_days`
    also the days up to T0, from stored states and the simulated past. Null, with the reason, for networks that do not
    conserve mass."""
    return answer.of_basin(service.storage_with_past(session, *asked, past_days), table.of_storage)


@router.get(
    "/{basin}/origin",
    summary="Origin of the coming discharge: stored water or future rain",
    **documented_responses(OriginOfRun, *PROBLEMS, formats=SERIES),
)
def read_origin(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The discharge of each day ahead by the place of its water at T0, mm/day: stored in the basin, as snow or
    otherwise, or yet to fall. The model's own water is traced through its cells. Water in the cells read as snow counts
    as snow; the model was not trained on it. Null, with the reason, for networks that do not conserve mass; without
    snow cells, stored water is one part."""
    return answer.of_basin(service.origin(session, *asked), table.of_origin)


@router.get(
    "/{basin}/age",
    summary="Age of the coming discharge, by season of precipitation",
    **documented_responses(AgeOfRun, *PROBLEMS, formats=SERIES),
)
def read_age(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The discharge of each day ahead by the season in which its water fell, mm/day: in that of T0, in one of the four
    before it, earlier, or after T0. The model's own water is traced through its cells from more than a year before T0.
    Null, with the reason, if the run did not request it (`age` of a job `forecast`), if the record is shorter than a
    year, and for networks that do not conserve mass."""
    return answer.of_basin(service.age(session, *asked), table.of_age)


@router.get(
    "/{basin}/water-balance", summary="Water balance of the forecast", **documented_responses(BalanceOfRun, *PROBLEMS)
)
def read_water_balance(session: Reading, asked: AskedRun, answer: JsonAnswer) -> Response:
    """The water balance from T0 to the end of the horizon, mm, of every member: precipitation, discharge, loss and
    storage change, the residual and its tolerance, and whether it closes. A basin whose balance does not close is
    withheld: ask for its run to see it. Null, with the reason, for networks that do not conserve mass."""
    _, latest_at = asked
    cache_control = FOR_EVER if latest_at is None else SHORTLY
    return answer.of(service.balance(session, *asked), cache_control=cache_control)


@router.get(
    "/{basin}/long-term-balance",
    summary="Long-term water balance, with observed runoff",
    **documented_responses(LongTermBalance, *PROBLEMS),
)
def read_long_term_balance(session: Reading, asked: AskedRun, answer: JsonAnswer) -> Response:
    """Mean annual precipitation, runoff and loss, mm, over all days from the empty store to T0, with the observed
    runoff of that time. The residual over that time is in `/water-balance`. Null, with the reason, for networks that do
    not conserve mass."""
    return answer.of(long_term.long_term(session, *asked))
