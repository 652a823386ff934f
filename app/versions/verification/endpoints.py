"""/v1/basins/{basin}/verification and /v1/models/{version}/verification"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.http.dependencies import BasinId, ChosenVersion, Reading, VersionId
from app.versions.verification import service
from app.versions.verification.schemas import BasinVerification, ModelVerification
from app.versions.verification.service import NotVerified
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
    **documented_responses(BasinVerification, UnknownBasin, UnknownVersion, NoModel, NotVerified),
)
def read_basin_verification(
    session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None, season: OfSeason = ALL_YEAR
) -> Response:
    """Forecasts of a model version verified against observations, with climatology and persistence, by lead time:
    reforecasts of past days with observed weather, and issued forecasts by their weather."""
    return answer.of(service.of_basin(session, basin, version, season))


@router.get(
    "/models/{version}/verification",
    summary="Verification of a model version over its basins, by lead time",
    **documented_responses(ModelVerification, UnknownVersion, NotVerified),
)
def read_model_verification(
    session: Reading, version: VersionId, answer: JsonAnswer, season: OfSeason = ALL_YEAR
) -> Response:
    """The median and the quartiles of each score over the basins, by origin, weather, period, lead and forecaster."""
    return answer.of(service.of_model(session, version, season))
