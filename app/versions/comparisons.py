"""/v1/comparisons: comparisons of model versions with each other and with published results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Annotated, TypeVar

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import TableAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.exports.formats import TABLES
from app.exports.table import Table, by_basin
from app.http.base_schema import Missing, Model, Period, next_page
from app.http.conditional import FOR_EVER
from app.http.dependencies import Metric, OptionalVersion, Reading, id_path
from app.http.json_numbers import rounded, rounded_or_none
from app.http.shown import As
from hydrology.base import calendar
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.scores.comparisons import PublishedModel as PrintedModel
from hydrology.verification.held_out_years import PeriodUse, joint_use
from records.verification import comparisons
from records.versions import versions

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

Column = Sequence[float | None]
Value = TypeVar("Value")
Exact = Annotated[Value, As(exact=True)]
ComparisonId = Annotated[str, id_path("A comparison's id.", "01a1fa2ab3c4d50b5f2e91")]


class ComparisonSummary(Model):
    """A comparison in a list."""

    id: str
    created_at: datetime = Field(description="When it was created, by the machine's clock.")
    period: Period = Field(description="The days that were scored.")
    versions: list[str] = Field(description="The model versions; the others are compared with the first.")
    basin_count: int = Field(description="Number of basins in which every version was scored.")
    official: bool = Field(description="Whether the service itself or an admin asked for it.")


class ComparisonPage(Model):
    """Comparisons, the newest first."""

    comparisons: list[ComparisonSummary]
    next: str | None = next_page("/v1/comparisons?limit=100&after=01a1fa2ab3c4d50b5f2e91")


class PublishedTable(Model):
    """The medians that the literature prints for the 447 basins of CAMELS-US."""

    comparable: bool = Field(description="Whether this comparison is of the same days and exactly the same basins.")
    note: str = Field(description="The contents of the table, and whether it is comparable.")
    period: Period
    basins: int
    product: str = Field(description="The weather product of the study.")
    models: list[Annotated[PrintedModel, As("PrintedModel", exact=True)]]


class BasinColumn(Model):
    """A metric of a version, one value for each basin of `basins`."""

    metric: str
    version: str
    values: list[float | None] = Field(
        description="In the unit of the metric; null where it is not defined: `/v1/basins/{basin}/skill` gives the "
        "reason."
    )
    differences: list[float | None] | None = Field(
        description="Difference to the first version; null for the first version itself, and where one of the two has "
        "no value."
    )


class Comparison(Model):
    """A comparison of model versions."""

    id: str
    created_at: datetime = Field(description="When it was created, by the machine's clock.")
    period: Period = Field(description="The days that were scored, the same for all.")
    period_use: PeriodUse = Field(
        description="How the trainings of the versions used these days: `held out`, because others are refused, or "
        "`unknown` where a version does not state its days."
    )
    versions: list[Exact[comparisons.ComparedVersion]] = Field(description="The others are compared with the first.")
    scores: list[Exact[comparisons.ComparedScore]]
    published_models: list[Exact[comparisons.PublishedModel]] = Field(
        description="Published models compared with the first version, basin by basin."
    )
    published_table: PublishedTable
    basins: list[str] = Field(description="Basins in which every version was scored.")
    left_out: dict[str, str] = Field(description="Why a basin could not be compared, by its identifier.")
    official: bool = Field(description="Whether the service itself or an admin asked for it.")
    by_basin: list[BasinColumn]
    missing: Missing


class NotCompared(NotFound):
    """The comparison does not include that metric."""

    remedy = "Request a metric listed in `detail`."


def comparison_summaries(stored: Sequence[comparisons.Summary]) -> list[ComparisonSummary]:
    return [
        ComparisonSummary.from_records(summary, basin_count=summary.basins, official=summary.owner is None)
        for summary in stored
    ]


def comparison_of(session: Session, comparison: str, metric: str | None = None) -> Comparison:
    """Return a comparison, in all its metrics or in one."""
    stored = comparisons.get(session, comparison)
    result = stored.result
    metrics = [score.metric for score in result.scores]
    if metric is not None and metric not in metrics:
        raise NotCompared(f"Comparison {comparison} has no {metric}: it has {', '.join(metrics)}.")
    wanted = metrics if metric is None else [metric]
    return Comparison.from_records(
        result,
        stored,
        period_use=joint_use(
            versions.get(session, one.id).use_of(calendar.Period(stored.first_day, stored.last_day))
            for one in result.versions
        ),
        scores=[score for score in result.scores if score.metric in wanted],
        published_models=_published_models(result.published_models, wanted),
        published_table=_published_table(result.published_table, wanted),
        left_out=texts(result.left_out),
        official=stored.owner is None,
        by_basin=[column for name in wanted for column in _columns(name, result.values[name])],
        missing=texts(result.missing),
    )


def _published_models(
    models: Sequence[comparisons.PublishedModel], wanted: Sequence[str]
) -> list[comparisons.PublishedModel]:
    """Return the models with their scores of some metrics; one without any is left out."""
    scores = [[score for score in model.scores if score.metric in wanted] for model in models]
    return [replace(model, scores=tuple(of_model)) for model, of_model in zip(models, scores, strict=True) if of_model]


def _published_table(table: comparisons.PublishedTable, wanted: Sequence[str]) -> PublishedTable:
    medians = [[median for median in model.medians if median.metric in wanted] for model in table.models]
    return PublishedTable.from_records(
        table,
        period=Period(first_day=date.fromisoformat(table.first_day), last_day=date.fromisoformat(table.last_day)),
        models=[
            replace(model, medians=tuple(of_model))
            for model, of_model in zip(table.models, medians, strict=True)
            if of_model
        ],
    )


def comparison_table(answer: Comparison) -> Table:
    """Return every basin's scores, a row each."""
    title = f"Scores of {len(answer.versions)} versions by basin"
    columns = {f"{of.metric}_{of.version}": of.values for of in answer.by_basin}
    return by_basin(f"comparison_{answer.id}", title, answer.basins, columns)


def _columns(metric: str, of_versions: Mapping[str, Column]) -> list[BasinColumn]:
    first, *_ = of_versions.values()
    return [
        BasinColumn(
            metric=metric,
            version=version,
            values=[rounded_or_none(value) for value in column],
            differences=None
            if at == 0
            else [
                None if value is None or of_first is None else rounded(value - of_first)
                for value, of_first in zip(column, first, strict=True)
            ],
        )
        for at, (version, column) in enumerate(of_versions.items())
    ]


@router.get("", summary="List comparisons", **documented_list(ComparisonPage, versions.UnknownVersion))
def list_comparisons(
    session: Reading, page: Annotated[Listing, listing(ComparisonPage)], version: OptionalVersion = None
) -> Response:
    """Comparisons of model versions, the newest first, a page at a time: follow `next` until it is null. A new one is
    created by a job of the kind `comparison` (`POST /v1/jobs`)."""
    if version is not None:
        versions.get(session, version)
    found = comparisons.list_comparisons(session, version=version, after=page.after, limit=page.sought)
    return page.of(found, comparison_summaries)


@router.get(
    "/{comparison}",
    summary="Scores of several model versions on the same basins and days",
    **documented_responses(Comparison, comparisons.UnknownComparison, NotCompared, formats=TABLES),
)
def read_comparison(session: Reading, comparison: ComparisonId, answer: TableAnswer, metric: Metric = None) -> Response:
    """The scores of several versions on the same basins and days: quartiles over the basins, differences to the first
    version with a Wilcoxon signed-rank test, every basin's score, the cost of training each version, and
    published scores; as a file, the scores of each basin. A comparison never changes, so it may be cached forever."""
    return answer.of(comparison_of(session, comparison, metric), comparison_table, cache_control=FOR_EVER)
