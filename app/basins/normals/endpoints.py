"""/v1/basins/{basin}/normals"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.basins.normals import service
from app.basins.normals.schemas import Normals
from app.basins.normals.service import NormalsRequest
from app.basins.observations.endpoints import DischargeUnits, Variable
from app.basins.observations.service import MAX_DAYS, USUAL_DAYS
from app.http.conditional import NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.discharge_units import AreaName
from app.http.problems import documented
from jobspec.fields import NAME, DayField
from records.basins.basins import UnknownArea, UnknownBasin
from records.series.series import NoObservations

router = APIRouter(prefix="/basins", tags=["observations"])

Product = Annotated[
    str | None,
    Query(
        description="The weather product; by default that of the current model version.",
        pattern=f"^{NAME}$",
        examples=["daymet"],
    ),
]
Start = Annotated[
    DayField | None,
    Query(
        description=f"The first day; by default {USUAL_DAYS} days before the last.",
        examples=["2008-04-01"],
    ),
]
End = Annotated[
    DayField | None,
    Query(
        description=f"The last day (included), past or ahead. By default {USUAL_DAYS} days after the first day, or if "
        "that is not given either, the day of the service's clock.",
        examples=["2008-07-31"],
    ),
]


@router.get(
    "/{basin}/normals",
    summary="Normals for each day: flow, weather, stored water and snow",
    description="Statistics of other years at the same time of the year: the mean (the normal), quantiles, and the "
    "number of years. A year counts if more than half of the days around the same day are known; the year of the day "
    "itself never counts, so no day is compared with itself. On a day with too few other years all are null, and "
    f"`missing` gives the reason. One answer holds at most {MAX_DAYS} days, past or ahead.",
    responses=NOT_MODIFIED | documented(UnknownBasin, NoObservations, UnknownArea),
    response_model=Normals,
)
def read_normals(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    variable: Variable = None,
    product: Product = None,
    start: Start = None,
    end: End = None,
    units: DischargeUnits = None,
    area: AreaName = None,
    if_none_match: IfNoneMatch = None,
) -> Normals | Response:
    request = NormalsRequest(variable, product, start, end, units, area)
    return tagged(service.normals_of(session, basin, request, clock.now()), response, if_none_match)
