"""Builds the answers about comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from sqlalchemy.orm import Session

from app.http.base_schema import Period
from app.versions.comparisons.schemas import (
    BasinColumn,
    ComparedScore,
    ComparedVersion,
    Comparison,
    ComparisonSummary,
    PrintedModel,
    PublishedModel,
    PublishedTable,
)
from hydrology.base import calendar
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.verification.held_out_years import joint_use
from records.verification import comparison_results, comparisons
from records.versions import versions

Column = Sequence[float | None]


class NotCompared(NotFound):
    """The comparison does not include that metric."""

    kind = "not-compared"
    remedy = "Request a metric listed in `detail`."


def summaries(stored: Sequence[comparisons.Summary]) -> list[ComparisonSummary]:
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


def detail(session: Session, comparison: str, metric: str | None) -> Comparison:
    """Return a comparison, in all its metrics or in one.

    Raises:
        UnknownComparison: there is none of that id.
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


def _published_models(
    models: Sequence[comparison_results.PublishedModel], wanted: Sequence[str]
) -> list[PublishedModel]:
    """Return the models with their scores of some metrics; one without any is left out."""
    scores = [[score for score in model.scores if score.metric in wanted] for model in models]
    return [
        PublishedModel.model_validate(replace(model, scores=tuple(of_model)), from_attributes=True)
        for model, of_model in zip(models, scores, strict=True)
        if of_model
    ]


def _published_table(table: comparison_results.PublishedTable, wanted: Sequence[str]) -> PublishedTable:
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
