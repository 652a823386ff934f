"""/v1/basins/{basin}/skill and /v1/models/{version}/skill"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import answered
from app.exports.formats import TABLES
from app.exports.negotiation import TableFormat, documented_formats
from app.http.conditional import NOT_MODIFIED, IfNoneMatch
from app.http.dependencies import BasinId, Reading, VersionId
from app.http.problems import documented
from app.models.scores import service, table
from app.models.scores.schemas import BasinSkill, ModelSkill
from app.models.scores.service import NotEvaluated
from jobspec.fields import ID
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

Version = Annotated[
    str | None,
    Query(
        description="A model version's id; by default the basin's current one.",
        pattern=ID,
    ),
]
Metric = Annotated[
    str | None,
    Query(description="Only this metric.", pattern=ID, examples=["nse"]),
]


@router.get(
    "/basins/{basin}/skill",
    summary="Skill of the model in a basin",
    responses=NOT_MODIFIED
    | documented(UnknownBasin, UnknownVersion, NoModel, NotEvaluated)
    | documented_formats(*TABLES),
    response_model=BasinSkill,
)
def read_basin_skill(
    session: Reading,
    response: Response,
    basin: BasinId,
    chosen: TableFormat,
    version: Version = None,
    metric: Metric = None,
    if_none_match: IfNoneMatch = None,
) -> BasinSkill | Response:
    """Every score of a model version in the basin, with its period: a score that is not defined there is
    null, with the reason. Also the skill of the snow cells against reference snow, which the model was not trained
    on."""
    answer = service.of_basin(session, basin, version, metric)
    return answered(chosen, answer, response, if_none_match, lambda: table.of_basin(answer))


@router.get(
    "/models/{version}/skill",
    summary="Skill of a model version over its basins",
    responses=NOT_MODIFIED | documented(UnknownVersion, NotEvaluated) | documented_formats(*TABLES),
    response_model=ModelSkill,
)
def read_model_skill(
    session: Reading,
    response: Response,
    version: VersionId,
    chosen: TableFormat,
    metric: Metric = None,
    if_none_match: IfNoneMatch = None,
) -> ModelSkill | Response:
    """The median and the quartiles of each score over the basins, by metric and period, with the number of basins with
    and without a value."""
    answer = service.of_model(session, version, metric)
    return answered(chosen, answer, response, if_none_match, lambda: table.of_model(answer))
