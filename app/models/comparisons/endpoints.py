"""/v1/comparisons"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.http.conditional import FOR_EVER, NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import IdCursor, OptionalVersion, PageLimit, Reading
from app.http.pagination import next_page
from app.http.problems import documented
from app.models.comparisons import service
from app.models.comparisons.schemas import Comparison, ComparisonPage
from jobspec.fields import ID
from records.verification.comparisons import UnknownComparison
from records.versions.versions import UnknownVersion

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

ComparisonId = Annotated[str, Path(description="A comparison's id.", pattern=ID, examples=["01a1fa2ab3c4d50b5f2e91"])]
Metric = Annotated[str | None, Query(description="Only this metric.", pattern=ID, examples=["nse"])]


@router.get("", summary="List comparisons", responses=documented(UnknownVersion))
def list_comparisons(
    request: Request,
    response: Response,
    session: Reading,
    version: OptionalVersion = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> ComparisonPage:
    """Comparisons of model versions, the newest first, a page at a time: follow `next` until it is null. A new one is
    created by a job of the kind `comparison` (`POST /v1/jobs`)."""
    found, more = service.page(session, version=version, after=after, limit=limit)
    asked = {"version": version, "limit": limit}
    following = next_page(request, response, asked, found[-1].id if more else None)
    return ComparisonPage(comparisons=found, next=following)


@router.get(
    "/{comparison}",
    summary="Scores of several model versions on the same basins and days",
    responses=NOT_MODIFIED | documented(UnknownComparison, service.NotCompared),
    response_model=Comparison,
)
def read_comparison(
    session: Reading,
    response: Response,
    comparison: ComparisonId,
    metric: Metric = None,
    if_none_match: IfNoneMatch = None,
) -> Comparison | Response:
    """The scores of several versions on the same basins and days: quartiles over the basins, differences to the first
    version with a Wilcoxon signed-rank test, every basin's score, the cost of training each version, and
    published scores. A comparison never changes, so it may be cached forever."""
    return tagged(service.detail(session, comparison, metric), response, if_none_match, FOR_EVER)
