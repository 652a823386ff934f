"""/v1/basins/{basin}/verification and /v1/models/{version}/verification"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.http.conditional import NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import BasinId, Reading, VersionId
from app.http.problems import documented
from app.models.scores.endpoints import Version
from app.models.verification import service
from app.models.verification.schemas import BasinVerification, ModelVerification
from app.models.verification.service import NotVerified
from hydrology.verification.results import ALL_YEAR, Season
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

OfSeason = Annotated[
    Season, Query(description="Season of the forecast days: `all`, or three months by their initials.")
]


@router.get(
    "/basins/{basin}/verification",
    summary="Verification of the forecasts in a basin, by lead time",
    responses=NOT_MODIFIED | documented(UnknownBasin, UnknownVersion, NoModel, NotVerified),
    response_model=BasinVerification,
)
def read_basin_verification(
    session: Reading,
    response: Response,
    basin: BasinId,
    version: Version = None,
    season: OfSeason = ALL_YEAR,
    if_none_match: IfNoneMatch = None,
) -> BasinVerification | Response:
    """Forecasts of a model version verified against observations, with climatology and persistence, by lead time:
    reforecasts of past days with observed weather, and issued forecasts by their weather."""
    return tagged(service.of_basin(session, basin, version, season), response, if_none_match)


@router.get(
    "/models/{version}/verification",
    summary="Verification of a model version over its basins, by lead time",
    responses=NOT_MODIFIED | documented(UnknownVersion, NotVerified),
    response_model=ModelVerification,
)
def read_model_verification(
    session: Reading,
    response: Response,
    version: VersionId,
    season: OfSeason = ALL_YEAR,
    if_none_match: IfNoneMatch = None,
) -> ModelVerification | Response:
    """The median and the quartiles of each score over the basins, by origin, weather, period, lead and forecaster."""
    return tagged(service.of_model(session, version, season), response, if_none_match)
