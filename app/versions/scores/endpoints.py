"""/v1/basins/{basin}/skill and /v1/models/{version}/skill"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.http.dependencies import BasinId, ChosenVersion, Metric, Reading, VersionId
from app.versions.scores import service, table
from app.versions.scores.schemas import BasinSkill, ModelSkill
from app.versions.scores.service import NotEvaluated
from hydrology.verification.held_out_years import PeriodUse
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

OfUse = Annotated[
    PeriodUse | None, Query(description="Only scores whose days had this use in the training: `held out` for skill.")
]


@router.get(
    "/basins/{basin}/skill",
    summary="Skill of the model in a basin",
    **documented_responses(BasinSkill, UnknownBasin, UnknownVersion, NoModel, NotEvaluated, formats=TABLES),
)
def read_basin_skill(
    session: Reading,
    basin: BasinId,
    answer: TableAnswer,
    version: ChosenVersion = None,
    metric: Metric = None,
    period_use: OfUse = None,
) -> Response:
    """Every score of a model version in the basin, with its period and the use of its days in the training: a score
    that is not defined there is null, with the reason. Also the skill of the snow cells against reference snow, which
    the model was not trained on."""
    return answer.of(service.of_basin(session, basin, version, metric, period_use), table.of_basin)


@router.get(
    "/models/{version}/skill",
    summary="Skill of a model version over its basins",
    **documented_responses(ModelSkill, UnknownVersion, NotEvaluated, formats=TABLES),
)
def read_model_skill(
    session: Reading, version: VersionId, answer: TableAnswer, metric: Metric = None, period_use: OfUse = None
) -> Response:
    """The median and the quartiles of each score over the basins, by metric, period and use of its days in the
    training, with the number of basins with and without a value."""
    return answer.of(service.of_model(session, version, metric, period_use), table.of_model)
