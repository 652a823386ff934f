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
    Season, Query(description="Of the days that were forecast: `all`, or three months by their initials.")
]


@router.get(
    "/basins/{basin}/verification",
    summary="How true the forecasts in a basin were, by lead",
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
    """Forecasts held against what was then observed: those of a model version beside climatology and persistence, lead
    by lead. Reforecasts of past days with the weather that came, and what was issued day by day, by its weather."""
    return tagged(service.of_basin(session, basin, version, season), response, if_none_match)


@router.get(
    "/models/{version}/verification",
    summary="How true the forecasts of a model version were over its basins, by lead",
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
