"""Builds the answers about skill."""

from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.http.base_schema import Period
from app.versions.scores.schemas import NOT_TRAINED, Agreement, BasinSkill, ModelSkill, Quartiles, Score, SnowSkill
from hydrology.base.absent import text
from hydrology.base.errors import NotFound
from hydrology.verification.held_out_years import PeriodUse
from records.basins import basins
from records.database.statements import as_values
from records.forecasts.latest import asked_version
from records.verification import scores as verification_scores
from records.versions import versions


class NotEvaluated(NotFound):
    """No score of that version, basin or metric is stored."""

    kind = "not-evaluated"
    remedy = "Evaluate the version: `freshet evaluate`, or post a job of the kind `evaluation`."


def of_basin(
    session: Session, basin: str, version: str | None, metric: str | None, use: PeriodUse | None = None
) -> BasinSkill:
    """Return the scores of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not stored.
        NoModel: no version is named, and none is current.
        NotEvaluated: there is no such score.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    only: dict[str, Any] = {"basins": [basin], "metrics": _only(metric), "uses": use and [use]}
    scored, stored = asked.id, verification_scores.scores(session, versions=[asked.id], **only)
    if not stored and asked.twin_id is not None:
        scored = asked.twin_id
        stored = verification_scores.scores(session, versions=[scored], **only)
    if not stored:
        raise NotEvaluated(f"{_no_score(metric, use)} of version {asked.id} in {basin} is stored: {_mend(asked.id)}")
    snow = [snow_skill(cells) for cells in verification_scores.snow_cells(session, scored, [basin])]
    return BasinSkill(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        scored=scored,
        seen_in_training=basin in asked.basins,
        trained_on=asked.trained_on,
        product=asked.product,
        scores=[Score(**_fields(score, "version_id", "basin_id")) for score in stored],
        snow=snow,
        missing={} if snow else {"snow": "The snow of this version was not scored in this basin."},
    )


def of_model(session: Session, version: str, metric: str | None, use: PeriodUse | None = None) -> ModelSkill:
    """Return the quartiles of a version's scores over the basins.

    Raises:
        UnknownVersion: there is none of that id.
        NotEvaluated: there is no such score.
    """
    asked = versions.get(session, version)
    metrics, uses = _only(metric), None if use is None else [use]
    scored, stored = version, verification_scores.quartiles(session, version, metrics, uses)
    if not stored and asked.twin_id is not None:
        scored, stored = asked.twin_id, verification_scores.quartiles(session, asked.twin_id, metrics, uses)
    if not stored:
        raise NotEvaluated(f"{_no_score(metric, use)} of version {version} is stored: {_mend(version)}")
    return ModelSkill(version=version, scored=scored, scores=[Quartiles(**_fields(score)) for score in stored])


def snow_skill(cells: verification_scores.SnowCells) -> SnowSkill:
    """Return the skill of a version's snow cells."""
    return SnowSkill(
        label=NOT_TRAINED,
        product=cells.product,
        cells=cells.cells,
        training=Agreement(period=Period.between(cells.training_first, cells.training_last), r=cells.training_r),
        test=Agreement(period=Period.between(cells.test_first, cells.test_last), r=cells.test_r),
        bias_pct=cells.bias_pct,
        where_none_mm=cells.bare_mm,
        reason=text(cells.reason),
        evaluated_at=cells.evaluated_at,
    )


def _only(metric: str | None) -> list[str] | None:
    return None if metric is None else [metric]


def _no_score(metric: str | None, use: PeriodUse | None) -> str:
    days = "" if use is None else f" over {use.replace(' ', '-')} days"
    return f"No {metric or 'score'}{days}"


def _mend(version: str) -> str:
    return f"ask for another, or evaluate it (freshet evaluate --version {version})."


def _fields(score: verification_scores.Score | verification_scores.Quartiles, *left_out: str) -> dict[str, Any]:
    period = Period.between(score.first_day, score.last_day)
    return as_values(score, "first_day", "last_day", *left_out) | {"period": period}
