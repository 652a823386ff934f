"""/v1/basins/{basin}/normals"""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from app.basins.normals import service
from app.basins.normals.schemas import Normals
from app.basins.series_requests import MAX_DAYS, NormalsRequest
from app.exports.answers import JsonAnswer, documented_responses
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.limits.costs import RequestBudget
from records.basins.basins import UnknownArea, UnknownBasin
from records.series.series import NoObservations

router = APIRouter(prefix="/basins", tags=["observations"])


@router.get(
    "/{basin}/normals",
    summary="Normals for each day: flow, weather, stored water and snow",
    description="Statistics of other years at the same time of the year: the mean (the normal), quantiles, and the "
    "number of years. A year counts if more than half of the days around the same day are known; the year of the day "
    "itself never counts, so no day is compared with itself. On a day with too few other years all are null, and "
    f"`missing` gives the reason. One answer holds at most {MAX_DAYS} days, past or ahead.",
    **documented_responses(Normals, UnknownBasin, NoObservations, UnknownArea),
)
def read_normals(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    request: Annotated[NormalsRequest, Depends()],
    answer: JsonAnswer,
    budget: RequestBudget,
) -> Response:
    return answer.of(service.normals_of(session, basin, request, clock.now(), budget))
