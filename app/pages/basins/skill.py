"""Skill of a basin for a reader: scores with their meaning and what is typical, and verification by lead and month."""

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from app.outlooks.schemas import BasinOutlook
from app.pages.basins.facts import headline
from app.versions.decisions import by_month
from app.versions.scores import BasinSkill
from app.versions.verification_schemas import BasinVerification, LeadVerification
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.verification.skilful_days import skilful_days
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
    """A `HeldOutScore` as the page shows it; `typical` is the middle half of the version's basins."""

    metric: str
    value: str
    n: int
    period: Period
    meaning: str
    typical: str
    shipped: bool


def shown_scores(session: Session, skill: BasinSkill) -> list[ShownScore]:
    """Return the scores over held-out days, with what is typical for the version."""
    known = verification_scores.held_out_scores(session, [skill.scored], list(METRICS))
    return [
        ShownScore(
            metric=metric.upper(),
            value=_written(score.value, unit),
            n=score.n,
            period=score.period,
            meaning=meaning,
            typical=_middle_half([one.value for (_, _, name), one in known.items() if name == metric], unit),
            shipped=score.shipped,
        )
        for metric, (unit, meaning) in METRICS.items()
        if (score := known.get((skill.scored, skill.basin, metric))) is not None
    ]


def _middle_half(values: Sequence[float], unit: str) -> str:
    if len(values) < MIN_BASINS:
        return ""
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return f"{_written(low, unit)} to {_written(high, unit)}"


def _written(value: float, unit: str) -> str:
    return f"{value:+.0f}{unit}" if unit else f"{value:.2f}"


def verified_rows(verified: BasinVerification | Absent, outlook: BasinOutlook) -> list[LeadVerification]:
    """Return the verification behind the outlook's skill, by lead."""
    shown = None if outlook.skill is None else outlook.skill.forecasts
    if isinstance(verified, Absent) or shown is None:
        return []
    of_outlook = shown.version, shown.origin, shown.weather, shown.period
    rows = [
        row
        for row in verified.verification
        if row.forecaster == "calibrated" and (row.scored, row.origin, row.weather, row.period) == of_outlook
    ]
    return sorted((row for row in rows if row.crpss_climatology is not None), key=lambda row: row.lead)


def by_months(rows: Sequence[LeadVerification]) -> list[tuple[str, str, int]]:
    """Return the months with a headline of their skill, the headline, and its number of independent forecasts."""
    found = ((month, skilful_days(by_month(rows, month))) for month in range(1, 13))
    return [
        (calendar.month_name[month], headline("Skilful", days.days), days.independent_issues)
        for month, days in found
        if not isinstance(days, Absent)
    ]
