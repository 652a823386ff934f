"""/v1/basins/{basin}/skill and /v1/models/{version}/skill: skill of model versions against observations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.exports.table import Table, by_basin, table_of
from app.http.base_schema import Missing, Model, Period, Series
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Metric, Reading, VersionId
from hydrology.base import calendar
from hydrology.base.absent import text
from hydrology.base.errors import NotFound
from hydrology.verification.held_out_years import PeriodUse
from records.forecasts.latest import asked_version
from records.simulations import snow_cells
from records.verification import scores as verification_scores
from records.versions import versions

router = APIRouter(tags=["skill"])

OfUse = Annotated[
    PeriodUse | None, Query(description="Only scores whose days had this use in the training: `held out` for skill.")
]

NOT_TRAINED = "not trained on snow"
SCORED = (
    "The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has "
    "none of its own because it has learnt from every year."
)
USE = (
    "How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt "
    "from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some "
    "of the versions that it combines, or in some of the basins; `unknown` where the version does not state its "
    "days. Only a score on days that are held out is its skill: others flatter it."
)

VersionName = Annotated[str, Series("identifier of the model version"), Field(description="The model version.")]
ScoredVersion = Annotated[str, Series("the version whose scores these are"), Field(description=SCORED)]


class ScoreKey(Model):
    """The member, metric, lead time, period and reference of a score."""

    metric: Annotated[str, Series("name of the score")] = Field(
        description="`nse`, `kge`, `fhv` and so on; biases are in %."
    )
    member: Annotated[str, Series("a member's number, mean or draws")] = Field(
        description="A member's number, or `mean` for the members' mean, or `draws` for the mean over draws of the "
        "calibrated flow, of which the scores that compare distributions are computed where the error model is fitted "
        "to other days. Of a version that combines others also the "
        "names of some of its weather products, joined by `+`: the mean with these alone."
    )
    lead: Annotated[str, Series("days after t0; all for the score of a simulation")] = Field(
        description="Days after T0; `all` for the score of a simulation."
    )
    season: Annotated[str, Series("season")]
    threshold: Annotated[str, Series("threshold")]
    forcing_kind: Annotated[str, Series("the weather that drove the simulation")] = Field(
        description="The weather that drove the simulation."
    )
    reference: Annotated[str, Series("reference data")] = Field(description="The reference data.")
    period: Annotated[Period, Series("{}", column="{}")]
    period_use: Annotated[PeriodUse, Series("use of these days in the training of the scored version")] = Field(
        description=USE
    )


class Score(ScoreKey):
    """One score of a model version in a basin."""

    n: Annotated[int, Series("days with both values")] = Field(description="Number of days with both values.")
    value: Annotated[float | None, Series("score")]
    low: Annotated[float | None, Series("lower end of its interval")] = Field(
        description="The lower end of its interval; null where none was computed."
    )
    high: Annotated[float | None, Series("upper end of its interval")] = Field(
        description="The upper end of its interval; null where none was computed."
    )
    reason: Annotated[str | None, Series("why there is no value")] = Field(
        description="Why there is no value; null where there is one."
    )
    attributes_assumed: list[str] = Field(
        description="The attributes of the basin that were assumed in the simulation, for they were not known."
    )
    shipped: Annotated[bool, Series("whether it came with the shipped ensemble")] = Field(
        description="Whether it came with the shipped ensemble, computed elsewhere; an evaluation here takes its place."
    )
    evaluated_at: Annotated[datetime, Series("when it was computed")]


class Agreement(Model):
    """Agreement of the snow cells with the reference over a period."""

    period: Period
    r: float | None = Field(description="Pearson's correlation; null for the reason that `reason` gives.")


class SnowSkill(Model):
    """The snow cells, chosen on the training period against reference snow, with their skill.

    The model was not trained on snow: the cells that follow it were found afterwards."""

    label: str = Field(description=f"Always `{NOT_TRAINED}`.")
    product: str = Field(description="The reference snow.")
    cells: dict[str, list[int]] = Field(description="The chosen cells of each member.")
    training: Agreement = Field(description="On the days used to choose the cells.")
    test: Agreement = Field(description="On other days.")
    bias_pct: float | None = Field(description="Bias on the test days, %.")
    where_none_mm: float | None = Field(
        description="Mean snow read on test days on which the reference has none, mm. Null where "
        "there are no such days, or if it was scored before this field existed."
    )
    reason: str | None = Field(description="Why a number is missing; null where none is.")
    evaluated_at: datetime


class BasinSkill(Model):
    """The scores of a model version in a basin."""

    basin: Annotated[str, Series("identifier of the basin")]
    basin_kind: BasinKind
    version: VersionName
    scored: ScoredVersion
    seen_in_training: bool = Field(description="Whether the version learnt from this basin.")
    trained_on: str = Field(description="The weather product that the version learnt from.")
    product: str = Field(description="The weather product that it uses and was scored with.")
    scores: Annotated[list[Score], Series("")]
    snow: list[SnowSkill] = Field(description="Skill of its snow, by reference; empty where none was scored.")
    missing: Missing


class Quartiles(ScoreKey):
    """Quartiles of a score over the basins in which the days had the same use."""

    n: Annotated[int, Series("basins with a value")] = Field(description="Number of basins with a value.")
    lacking: Annotated[int, Series("basins without")] = Field(
        description="Number of basins without a value, with a reason."
    )
    shipped: Annotated[int, Series("values that came with the shipped ensemble")] = Field(
        description="Number of values that came with the shipped ensemble, computed elsewhere."
    )
    p25: Annotated[float | None, Series("lower quartile over the basins")]
    median: Annotated[float | None, Series("median over the basins")]
    p75: Annotated[float | None, Series("upper quartile over the basins")]


class ModelSkill(Model):
    """The scores of a model version over its basins."""

    version: VersionName
    scored: ScoredVersion
    scores: Annotated[list[Quartiles], Series("")] = Field(
        description="Quartiles over the basins; null where no basin has a value."
    )


class NotEvaluated(NotFound):
    """No score of that version, basin or metric is stored."""

    remedy = "Evaluate the version: `freshet evaluate`, or post a job of the kind `evaluation`."


def basin_skill(
    session: Session, basin: str, version: str | None, metric: str | None = None, use: PeriodUse | None = None
) -> BasinSkill:
    """Return the scores of a version (by default the current one) in a basin."""
    asked = asked_version(session, basin, version)
    only: dict[str, Any] = {"basins": [basin], "metrics": metric and [metric], "uses": use and [use]}
    scored, stored = asked.first_stored(lambda of: verification_scores.scores(session, versions=[of], **only))
    if not stored:
        raise _not_evaluated(f"version {asked.id} in {basin}", asked.id, metric, use)
    snow = [snow_skill(cells) for cells in snow_cells.own_cells(session, scored, [basin])]
    return BasinSkill.from_records(
        asked,
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        scored=scored,
        seen_in_training=basin in asked.basins,
        scores=[Score.from_records(score, reason=text(score.reason)) for score in stored],
        snow=snow,
        missing={} if snow else {"snow": "The snow of this version was not scored in this basin."},
    )


def model_skill(session: Session, version: str, metric: str | None = None, use: PeriodUse | None = None) -> ModelSkill:
    """Return the quartiles of a version's scores over the basins."""
    asked = versions.get(session, version)
    metrics, uses = None if metric is None else [metric], None if use is None else [use]
    scored, stored = asked.first_stored(lambda of: verification_scores.quartiles(session, of, metrics, uses))
    if not stored:
        raise _not_evaluated(f"version {version}", version, metric, use)
    return ModelSkill(version=version, scored=scored, scores=[Quartiles.from_records(score) for score in stored])


def snow_skill(cells: snow_cells.SnowCells) -> SnowSkill:
    return SnowSkill.from_records(
        cells,
        label=NOT_TRAINED,
        training=Agreement(period=Period.between(cells.training_first, cells.training_last), r=cells.training_r),
        test=Agreement(period=Period.between(cells.test_first, cells.test_last), r=cells.test_r),
        where_none_mm=cells.bare_mm,
        reason=text(cells.reason),
    )


def _not_evaluated(what: str, version: str, metric: str | None, use: PeriodUse | None) -> NotEvaluated:
    days = "" if use is None else f" over {use.replace(' ', '-')} days"
    return NotEvaluated(
        f"No {metric or 'score'}{days} of {what} is stored: ask for another, or evaluate it (freshet evaluate "
        f"--version {version})."
    )


def table_by_basin(session: Session, version: str, period: calendar.Period, chosen: Sequence[str]) -> Table:
    """Return the scores of a version's mean over a period: a row for each basin, by default of all."""
    asked = versions.get(session, version)
    days: dict[str, Any] = {"first_day": period.first, "last_day": period.last, "members": [verification_scores.MEAN]}
    _, stored = asked.first_stored(
        lambda of: verification_scores.scores(session, versions=[of], basins=chosen or None, **days)
    )
    rows: dict[str, dict[str, float | None]] = {}
    for score in stored:
        if (score.lead, score.season, score.threshold) == ("all", "all", "all"):
            rows.setdefault(score.basin_id, {})[score.metric] = score.value
    metrics = sorted({metric for row in rows.values() for metric in row})
    columns = {metric: [row.get(metric) for row in rows.values()] for metric in metrics}
    return by_basin(f"skill_{version}_by_basin", f"Scores of {version} by basin, {period}", [*rows], columns)


@router.get(
    "/basins/{basin}/skill",
    summary="Skill of the model in a basin",
    **documented_responses(BasinSkill, *OF_VERSION, NotEvaluated, formats=TABLES),
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
    skill = basin_skill(session, basin, version, metric, period_use)
    title = f"Skill of {skill.version} in {basin}"
    return answer.of(skill, lambda shown: table_of(shown, f"{basin}_skill_{skill.version}", title))


@router.get(
    "/models/{version}/skill",
    summary="Skill of a model version over its basins",
    **documented_responses(ModelSkill, versions.UnknownVersion, NotEvaluated, formats=TABLES),
)
def read_model_skill(
    session: Reading, version: VersionId, answer: TableAnswer, metric: Metric = None, period_use: OfUse = None
) -> Response:
    """The median and the quartiles of each score over the basins, by metric, period and use of its days in the
    training, with the number of basins with and without a value."""
    title = f"Skill of {version} over its basins"
    skill = model_skill(session, version, metric, period_use)
    return answer.of(skill, lambda shown: table_of(shown, f"skill_{version}", title))
