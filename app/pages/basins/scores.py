"""Scores of a basin for a reader: value with its unit, what it means, and what is typical."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from app.versions.scores.schemas import BasinSkill, Score
from records.verification import scores as verification_scores

METRICS: Mapping[str, tuple[str, str]] = {
    "nse": ("", "Share of the variance of flow that the simulation explains; 1 is perfect, 0 no better than the mean."),
    "kge": ("", "Agreement in timing, variability and mean; 1 is perfect."),
    "fhv": (" %", "Error of the highest 2 % of flows; below 0: floods come out too low."),
    "flv": (" %", "Error of the lowest 30 % of flows, on a logarithmic scale; below 0: they come out too low."),
}
"""The scores of the page: unit and meaning."""
MIN_BASINS = 4
"""Minimum number of basins to state what is typical."""


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A score as the page shows it; `typical` is the middle half of the version's basins, `shipped` as of `Score`."""

    metric: str
    value: str
    days: int
    meaning: str
    typical: str
    shipped: bool


def shown_scores(session: Session, skill: BasinSkill) -> list[ShownScore]:
    """Return the scores over days that the version has not learnt from, with what is typical for it."""
    of_basins: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for (_, _, metric), value in verification_scores.mean_scores(session, [skill.scored], list(METRICS)).items():
        of_basins[metric].append(value)
    values = held_out_scores(skill)
    return [
        ShownScore(
            metric=metric.upper(),
            value=_written(score.value, METRICS[metric][0]),
            days=score.n,
            meaning=METRICS[metric][1],
            typical=_middle_half(of_basins[metric], METRICS[metric][0]),
            shipped=score.shipped,
        )
        for metric in METRICS
        if (score := values.get(metric)) is not None
    ]


def held_out_scores(skill: BasinSkill) -> dict[str, Score]:
    """Return the scores of the members' mean over all days that it has not learnt from, by metric.

    Computed here rather than shipped, then the newest.
    """
    key = ("mean", "all", "all", "all", "held out")
    found = [
        score
        for score in skill.scores
        if (score.member, score.lead, score.season, score.threshold, score.period_use) == key
        and score.value is not None
    ]
    newest_last = sorted(found, key=lambda one: (not one.shipped, one.period.first_day, one.period.last_day))
    return {score.metric: score for score in newest_last}


def _middle_half(values: Sequence[float], unit: str) -> str:
    if len(values) < MIN_BASINS:
        return ""
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return f"{_written(low, unit)} to {_written(high, unit)}"


def _written(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:+.0f}{unit}" if unit else f"{value:.2f}"
