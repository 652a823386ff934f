"""/models: all versions. /models/{version}: one, and its promotion. /comparisons/{comparison}: their
scores on the same basins and days."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.forecasts.worst_errors import worst_errors
from app.http.dependencies import Reading, VersionId
from app.pages.render import PageRoute, form_of, render
from app.versions.comparisons import Comparison, ComparisonId, comparison_of, comparison_summaries
from app.versions.schemas import NewPromotion
from app.versions.scores import NotEvaluated, model_skill
from app.versions.versions import promotions_of, version_detail, version_summaries
from hydrology.verification.held_out_years import HELD_OUT
from jobspec.extensions import extensions
from records.outlooks.skill import METRIC
from records.verification import scores as verification_scores
from records.verification.comparisons import list_comparisons
from records.verification.error_splits import ErrorFilter
from records.versions import promotions, versions

router = APIRouter(route_class=PageRoute)

MAX_LISTED = 100
MAX_ERRORS = 5
SIDE = 320
"""Side of the drawing, in its own units."""
LOWEST = 0.0
"""Lower scores are drawn at this value: differences between poor models mean little."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A basin: the first version's score to the right, the other's upwards."""

    basin: str
    first: float
    other: float

    @property
    def x(self) -> float:
        """Distance from the left, in units of the drawing."""
        return round(SIDE * max(self.first, LOWEST), 1)

    @property
    def y(self) -> float:
        """Distance from the top, in units of the drawing."""
        return round(SIDE * (1 - max(self.other, LOWEST)), 1)


@dataclass(frozen=True, slots=True)
class Paired:
    """A plot of two versions."""

    metric: str
    first: str
    other: str
    pairs: list[Pair]
    side: int = SIDE


@router.get("/models", response_class=HTMLResponse)
def read_models(request: Request, session: Reading) -> HTMLResponse:
    listed = version_summaries(session, versions.list_versions(session, limit=MAX_LISTED))
    compared = comparison_summaries(list_comparisons(session, limit=MAX_LISTED))
    scores = {
        model.id: _newest(verification_scores.quartiles(session, model.id, [METRIC], [HELD_OUT])) for model in listed
    }
    return render(request, "models.html", models=listed, scores=scores, comparisons=compared)


@router.get("/models/{version}", response_class=HTMLResponse)
def read_model(request: Request, session: Reading, version: VersionId) -> HTMLResponse:
    detail = version_detail(session, version)
    try:
        scores = [score for score in model_skill(session, version, use=HELD_OUT).scores if score.member == "mean"]
        why_none = ""
    except NotEvaluated as reason:
        scores, why_none = [], str(reason)
    before: dict[str, list[str]] = {}
    for basin, previous in promotions.before(session, detail.current_basins).items():
        before.setdefault(previous, []).append(basin)
    base = request.scope.get("root_path", "")
    return render(
        request,
        "model.html",
        model=detail,
        sections=[one.load(of)(session, version, base) for one in extensions() if (of := one.model_section)],
        scores=scores,
        why_none=why_none,
        promotions=promotions_of(session, version),
        before=before,
        form=form_of(NewPromotion),
        errors=worst_errors(session, "volume", ErrorFilter(version=version), MAX_ERRORS),
    )


@router.get("/comparisons/{comparison}", response_class=HTMLResponse)
def read_comparison(request: Request, session: Reading, comparison: ComparisonId) -> HTMLResponse:
    detail = comparison_of(session, comparison)
    names = {version.id: version.label or version.id for version in detail.versions}
    plots = list(paired(detail, METRIC))
    return render(request, "comparison.html", comparison=detail, names=names, plots=plots)


def _newest(scores: list[verification_scores.Quartiles]) -> verification_scores.Quartiles | None:
    """Return the score of the members' mean over the newest period."""
    of_mean = [score for score in scores if score.member == "mean"]
    return max(of_mean, key=lambda score: (score.first_day, score.last_day), default=None)


def paired(comparison: Comparison, metric: str) -> Iterator[Paired]:
    """Yield a plot for each version but the first; the metric's optimum is 1."""
    columns = {column.version: column.values for column in comparison.by_basin if column.metric == metric}
    first, *others = (version.id for version in comparison.versions)
    for other in others:
        if first in columns and other in columns:
            values = zip(comparison.basins, columns[first], columns[other], strict=True)
            pairs = [Pair(basin, x, y) for basin, x, y in values if x is not None and y is not None]
            yield Paired(metric, first, other, pairs)
