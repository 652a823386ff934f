"""Skill as a table: a row for each score."""

from collections.abc import Sequence
from typing import Any

from app.exports.table import Column, Kind, Table, constant
from app.versions.scores.schemas import BasinSkill, ModelSkill, ScoreKey

_Named = tuple[str, Kind, str]

_OF: tuple[_Named, ...] = (
    ("metric", "text", "name of the score"),
    ("member", "text", "a member's number, or mean"),
    ("lead", "text", "days after t0; all for the score of a simulation"),
    ("season", "text", "season"),
    ("threshold", "text", "threshold"),
    ("forcing_kind", "text", "the weather that drove the simulation"),
    ("reference", "text", "reference data"),
)
_SCORE: tuple[_Named, ...] = (
    ("n", "integer", "days with both values"),
    ("value", "number", "score"),
    ("low", "number", "lower end of its interval"),
    ("high", "number", "upper end of its interval"),
    ("reason", "text", "why there is no value"),
    ("shipped", "truth", "whether it came with the shipped ensemble"),
    ("evaluated_at", "instant", "when it was computed"),
)
_QUARTILES: tuple[_Named, ...] = (
    ("n", "integer", "basins with a value"),
    ("lacking", "integer", "basins without"),
    ("shipped", "integer", "values that came with the shipped ensemble"),
    ("p25", "number", "lower quartile over the basins"),
    ("median", "number", "median over the basins"),
    ("p75", "number", "upper quartile over the basins"),
)


def of_basin(answer: BasinSkill) -> Table:
    """Return the scores of a model version in a basin."""
    basin = constant("basin", "identifier of the basin", "text", answer.basin, len(answer.scores))
    columns = [basin, *_versions(answer), *_scores(answer.scores, _SCORE)]
    return Table(f"{answer.basin}_skill_{answer.version}", f"Skill of {answer.version} in {answer.basin}", columns)


def of_model(answer: ModelSkill) -> Table:
    """Return the scores of a model version over its basins."""
    columns = [*_versions(answer), *_scores(answer.scores, _QUARTILES)]
    return Table(f"skill_{answer.version}", f"Skill of {answer.version} over its basins", columns)


def _versions(answer: BasinSkill | ModelSkill) -> list[Column]:
    rows = len(answer.scores)
    return [
        constant("version", "identifier of the model version", "text", answer.version, rows),
        constant("scored", "the version whose scores these are", "text", answer.scored, rows),
    ]


def _scores(scores: Sequence[ScoreKey], shown: Sequence[_Named]) -> list[Column]:
    return [
        *(_column(scores, named) for named in _OF),
        Column("first_day", "first day", "day", [score.period.first_day for score in scores]),
        Column("last_day", "last day", "day", [score.period.last_day for score in scores]),
        _column(scores, ("period_use", "text", "use of these days in the training of the scored version")),
        *(_column(scores, named) for named in shown),
    ]


def _column(scores: Sequence[ScoreKey], named: _Named) -> Column:
    name, kind, meaning = named
    values: list[Any] = [getattr(score, name) for score in scores]
    return Column(name, meaning, kind, values)
