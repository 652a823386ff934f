"""/models: all versions. /models/{version}: one, and its promotion. /comparisons/{comparison}: their
scores on the same basins and days."""

from collections.abc import Iterator
from types import SimpleNamespace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.forecasts.worst_errors import worst_errors
from app.http.dependencies import Reading, VersionId
from app.pages.basin_figures import or_reason
from app.pages.forms import form_of
from app.pages.render import PageRoute, render
from app.versions.comparisons import Comparison, ComparisonId, comparison_of, comparison_summaries
from app.versions.schemas import NewPromotion, version_detail, version_summaries
from app.versions.scores import model_skill
from app.versions.versions import promotions_of
from hydrology.verification.held_out_years import HELD_OUT
from jobspec.extensions import extensions
from records.database.stored import grouped
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
    skill = or_reason(lambda: model_skill(session, version, use=HELD_OUT))
    before = promotions.before(session, detail.current_basins)
    base = request.scope.get("root_path", "")
    return render(
        request,
        "model.html",
        model=detail,
        sections=[one.load(of)(session, version, base) for one in extensions() if (of := one.model_section)],
        skill=skill,
        promotions=promotions_of(session, version),
        before=grouped((previous, basin) for basin, previous in before.items()),
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
    of_mean = [score for score in scores if score.member == verification_scores.MEAN]
    return max(of_mean, key=lambda score: (score.first_day, score.last_day), default=None)


def paired(comparison: Comparison, metric: str) -> Iterator[SimpleNamespace]:
    """Yield a plot of each version but the first against that; the metric's optimum is 1.

    Each of its `pairs` has a basin, both scores, and the place of its point from the left and from the top.
    """
    columns = {column.version: column.values for column in comparison.by_basin if column.metric == metric}
    first, *others = (version.id for version in comparison.versions)
    for other in others:
        if first in columns and other in columns:
            values = zip(comparison.basins, columns[first], columns[other], strict=True)
            pairs = [
                (basin, x, y, round(SIDE * max(x, LOWEST), 1), round(SIDE * (1 - max(y, LOWEST)), 1))
                for basin, x, y in values
                if x is not None and y is not None
            ]
            yield SimpleNamespace(metric=metric, first=first, other=other, pairs=pairs, side=SIDE)
