"""/v1/comparisons"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.conditional import FOR_EVER
from app.http.dependencies import Metric, OptionalVersion, Reading
from app.http.pagination import IdPage
from app.http.problems import documented
from app.versions.comparisons import service
from app.versions.comparisons.schemas import Comparison, ComparisonPage
from jobspec.fields import ID
from records.verification import comparisons
from records.verification.comparisons import UnknownComparison
from records.versions import versions
from records.versions.versions import UnknownVersion

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

ComparisonId = Annotated[str, Path(description="A comparison's id.", pattern=ID, examples=["01a1fa2ab3c4d50b5f2e91"])]


@router.get(
    "", summary="List comparisons", response_model=schema_of(ComparisonPage), responses=documented(UnknownVersion)
)
def list_comparisons(
    session: Reading,
    page: IdPage,
    fields: Annotated[FieldFilter, fields_of(ComparisonPage)],
    version: OptionalVersion = None,
) -> Response:
    """Comparisons of model versions, the newest first, a page at a time: follow `next` until it is null. A new one is
    created by a job of the kind `comparison` (`POST /v1/jobs`)."""
    if version is not None:
        versions.get(session, version)
    found = comparisons.list_comparisons(session, version=version, after=page.after, limit=page.sought)
    shown, following = page.cut(found)
    return fields.of(ComparisonPage(comparisons=service.summaries(shown), next=following))


@router.get(
    "/{comparison}",
    summary="Scores of several model versions on the same basins and days",
    **documented_responses(Comparison, UnknownComparison, service.NotCompared),
)
def read_comparison(session: Reading, comparison: ComparisonId, answer: JsonAnswer, metric: Metric = None) -> Response:
    """The scores of several versions on the same basins and days: quartiles over the basins, differences to the first
    version with a Wilcoxon signed-rank test, every basin's score, the cost of training each version, and
    published scores. A comparison never changes, so it may be cached forever."""
    return answer.of(service.detail(session, comparison, metric), cache_control=FOR_EVER)
