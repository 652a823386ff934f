"""Builds the answers about skill."""

from typing import Any

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.http.base_schema import Period
from app.versions.scores.schemas import NOT_TRAINED, Agreement, BasinSkill, ModelSkill, Quartiles, Score, SnowSkill
from hydrology.base import calendar
from hydrology.base.absent import text
from hydrology.base.errors import NotFound
from records.basins import basins
from records.database.statements import as_values
from records.forecasts.latest import asked_version
from records.verification import scores as verification_scores
from records.versions import versions


class NotEvaluated(NotFound):
    """No score of that version, basin or metric is stored."""

    kind = "not-evaluated"
    remedy = "Evaluate the version: `freshet evaluate`, or post a job of the kind `evaluation`."


def of_basin(session: Session, basin: str, version: str | None, metric: str | None) -> BasinSkill:
    """Return the scores of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not stored.
        NoModel: no version is named, and none is current.
        NotEvaluated: there is no such score.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    scored, stored = asked.first_stored(
        lambda of: verification_scores.scores(session, versions=[of], basins=[basin], metrics=_only(metric))
    )
    if not stored:
        raise NotEvaluated(f"{_no_score(metric)} of version {asked.id} in {basin} is stored: {_mend(asked.id)}")
    used = versions.get(session, scored)
    snow = [snow_skill(cells) for cells in verification_scores.snow_cells(session, scored, [basin])]
    return BasinSkill(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        scored=scored,
        seen_in_training=basin in asked.basins,
        trained_on=asked.trained_on,
        product=asked.product,
        scores=[Score(**_fields(used, score, "version_id", "basin_id")) for score in stored],
        snow=snow,
        missing={} if snow else {"snow": "The snow of this version was not scored in this basin."},
    )


def of_model(session: Session, version: str, metric: str | None) -> ModelSkill:
    """Return the quartiles of a version's scores over the basins.

    Raises:
        UnknownVersion: there is none of that id.
        NotEvaluated: there is no such score.
    """
    asked = versions.get(session, version)
    scored, stored = asked.first_stored(lambda of: verification_scores.quartiles(session, of, _only(metric)))
    if not stored:
        raise NotEvaluated(f"{_no_score(metric)} of version {version} is stored: {_mend(version)}")
    used = versions.get(session, scored)
    return ModelSkill(version=version, scored=scored, scores=[Quartiles(**_fields(used, score)) for score in stored])


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


def _no_score(metric: str | None) -> str:
    return "No score" if metric is None else f"No {metric}"


def _mend(version: str) -> str:
    return f"ask for another, or evaluate it (freshet evaluate --version {version})."


def _fields(
    scored: versions.Version, score: verification_scores.Score | verification_scores.Quartiles, *left_out: str
) -> dict[str, Any]:
    period = Period.between(score.first_day, score.last_day)
    use = scored.use_of(calendar.Period(score.first_day, score.last_day))
    return as_values(score, "first_day", "last_day", *left_out) | {"period": period, "period_use": use}
