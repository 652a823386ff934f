"""/v1/comparisons: comparisons of model versions with each other and with published results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Path, Response
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.base_schema import Period
from app.http.conditional import FOR_EVER
from app.http.dependencies import Metric, OptionalVersion, Reading
from app.http.pagination import IdPage
from app.http.problems import documented
from app.versions.comparison_schemas import (
    BasinColumn,
    ComparedScore,
    ComparedVersion,
    Comparison,
    ComparisonPage,
    ComparisonSummary,
    PrintedModel,
    PublishedModel,
    PublishedTable,
)
from hydrology.base import calendar
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.verification.held_out_years import joint_use
from jobspec.fields import ID
from records.verification import comparisons
from records.verification.comparisons import UnknownComparison
from records.versions import versions
from records.versions.versions import UnknownVersion

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

Column = Sequence[float | None]
ComparisonId = Annotated[str, Path(description="A comparison's id.", pattern=ID, examples=["01a1fa2ab3c4d50b5f2e91"])]


class NotCompared(NotFound):
    """The comparison does not include that metric."""

    kind = "not-compared"
    remedy = "Request a metric listed in `detail`."


def comparison_summaries(stored: Sequence[comparisons.Summary]) -> list[ComparisonSummary]:
    """Return comparisons as in a list."""
    return [
        ComparisonSummary(
            id=summary.id,
            created_at=summary.created_at,
            period=Period.between(summary.first_day, summary.last_day),
            versions=list(summary.versions),
            basin_count=summary.basins,
            official=summary.owner is None,
        )
        for summary in stored
    ]


def comparison_of(session: Session, comparison: str, metric: str | None = None) -> Comparison:
    """Return a comparison, in all its metrics or in one.

    Raises:
        NotCompared: it does not include that metric.
    """
    stored = comparisons.get(session, comparison)
    result = stored.result
    metrics = [score.metric for score in result.scores]
    if metric is not None and metric not in metrics:
        raise NotCompared(f"Comparison {comparison} has no {metric}: it has {', '.join(metrics)}.")
    wanted = metrics if metric is None else [metric]
    scores = [score for score in result.scores if score.metric in wanted]
    return Comparison(
        id=stored.id,
        created_at=stored.created_at,
        period=Period.between(stored.first_day, stored.last_day),
        period_use=joint_use(
            versions.get(session, one.id).use_of(calendar.Period(stored.first_day, stored.last_day))
            for one in result.versions
        ),
        versions=[ComparedVersion.model_validate(version, from_attributes=True) for version in result.versions],
        scores=[ComparedScore.model_validate(score, from_attributes=True) for score in scores],
        published_models=_published_models(result.published_models, wanted),
        published_table=_published_table(result.published_table, wanted),
        basins=list(stored.basins),
        left_out=texts(result.left_out),
        official=stored.owner is None,
        by_basin=[column for name in wanted for column in _columns(name, result.values[name])],
        missing=texts(result.missing),
    )


def _published_models(models: Sequence[comparisons.PublishedModel], wanted: Sequence[str]) -> list[PublishedModel]:
    """Return the models with their scores of some metrics; one without any is left out."""
    scores = [[score for score in model.scores if score.metric in wanted] for model in models]
    return [
        PublishedModel.model_validate(replace(model, scores=tuple(of_model)), from_attributes=True)
        for model, of_model in zip(models, scores, strict=True)
        if of_model
    ]


def _published_table(table: comparisons.PublishedTable, wanted: Sequence[str]) -> PublishedTable:
    medians = [[median for median in model.medians if median.metric in wanted] for model in table.models]
    return PublishedTable(
        comparable=table.comparable,
        note=table.note,
        period=Period(first_day=date.fromisoformat(table.first_day), last_day=date.fromisoformat(table.last_day)),
        basins=table.basins,
        product=table.product,
        models=[
            PrintedModel.model_validate(replace(model, medians=tuple(of_model)), from_attributes=True)
            for model, of_model in zip(table.models, medians, strict=True)
            if of_model
        ],
    )


def _columns(metric: str, of_versions: Mapping[str, Column]) -> list[BasinColumn]:
    first, *_ = of_versions.values()
    return [
        BasinColumn(
            metric=metric,
            version=version,
            values=[_rounded(value) for value in column],
            differences=None if at == 0 else _differences(column, first),
        )
        for at, (version, column) in enumerate(of_versions.items())
    ]


def _differences(column: Column, first: Column) -> list[float | None]:
    return [
        None if value is None or of_first is None else _rounded(value - of_first)
        for value, of_first in zip(column, first, strict=True)
    ]


def _rounded(value: float | None) -> float | None:
    """Round a value to 7 significant digits, the precision of the flows."""
    return None if value is None else float(f"{value:.7g}")


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
    return fields.of(ComparisonPage(comparisons=comparison_summaries(shown), next=following))


@router.get(
    "/{comparison}",
    summary="Scores of several model versions on the same basins and days",
    **documented_responses(Comparison, UnknownComparison, NotCompared),
)
def read_comparison(session: Reading, comparison: ComparisonId, answer: JsonAnswer, metric: Metric = None) -> Response:
    """The scores of several versions on the same basins and days: quartiles over the basins, differences to the first
    version with a Wilcoxon signed-rank test, every basin's score, the cost of training each version, and
    published scores. A comparison never changes, so it may be cached forever."""
    return answer.of(comparison_of(session, comparison, metric), cache_control=FOR_EVER)
