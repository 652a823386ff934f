"""/v1/basins/{basin}/observations"""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from app.basins.observations import service, table
from app.basins.observations.schemas import Observations
from app.basins.series_requests import MAX_DAYS, SeriesRequest
from app.exports.answers import SeriesAnswer, body_of, documented_responses
from app.exports.formats import SERIES
from app.http.dependencies import BasinId, Reading
from app.http.limits.costs import RequestBudget
from records.basins.basins import UnknownArea, UnknownBasin
from records.series.series import NoObservations

router = APIRouter(prefix="/basins", tags=["observations"])


@router.get(
    "/{basin}/observations",
    summary="Observed discharge, weather and snow of a basin",
    description="The daily series of a product, every day of the period: a day without a value is null, and its flags "
    f"give the reason. One answer holds at most {MAX_DAYS} days; a longer period is refused. With "
    "`known_at` revised values appear as they were at that instant, and later data are absent.",
    **documented_responses(Observations, UnknownBasin, NoObservations, UnknownArea, formats=SERIES),
)
def read_observations(
    session: Reading,
    basin: BasinId,
    request: Annotated[SeriesRequest, Depends()],
    answer: SeriesAnswer,
    budget: RequestBudget,
) -> Response:
    part, places = service.part(session, basin, request), answer.places([basin])
    budget.spend(len(part.entries) * len(part.period), "variable", "ask for one variable, or for fewer days.")
    return answer.tagged(
        service.tag_of(session, part),
        lambda: body_of(service.answer(session, part)),
        lambda: table.of_observations(service.answer(session, part), places),
        places=places,
    )
