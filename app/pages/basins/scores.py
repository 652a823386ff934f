"""Scores of a basin for a reader: value with its unit, what it means, and what is typical."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.models.scores.schemas import BasinSkill
from records.verification import scores as verification_scores

METRICS: Mapping[str, tuple[str, str]] = {
    "nse": ("", "Share of the variance of flow that the simulation explains; 1 is perfect, 0 no better than the mean."),
    "kge": ("", "Agreement in timing, variability and mean; 1 is perfect."),
    "fhv": (" %", "Error of the highest 2 % of flows; below 0: floods come out too low."),
    "flv": (" %", "Error of the lowest 30 % of flows, on a logarithmic scale; below 0: they come out too low."),
}
"""The scores of the page: unit and meaning."""


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A score as the page shows it; `typical` is the middle half of the version's basins."""

    metric: str
    value: str
    days: int
    meaning: str
    typical: str


def shown_scores(session: Session, skill: BasinSkill) -> list[ShownScore]:
    """Return the scores of the members' mean over all days ahead, with what is typical for the version."""
    typical = {
        row.metric: (row.p25, row.p75)
        for row in verification_scores.quartiles(session, skill.scored, list(METRICS))
        if (row.member, row.lead) == ("mean", "all")
    }
    values = {
        score.metric: score
        for score in skill.scores
        if score.metric in METRICS and (score.member, score.lead) == ("mean", "all") and score.value is not None
    }
    return [
        ShownScore(
            metric=metric.upper(),
            value=_written(values[metric].value, unit),
            days=values[metric].n,
            meaning=meaning,
            typical=_range(*typical.get(metric, (None, None)), unit),
        )
        for metric, (unit, meaning) in METRICS.items()
        if metric in values
    ]


def _range(low: float | None, high: float | None, unit: str) -> str:
    return "" if low is None or high is None else f"{_written(low, unit)} to {_written(high, unit)}"


def _written(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:+.0f}{unit}" if unit else f"{value:.2f}"
