"""Recalibrates a version's forecasts with weather forecasts by the flow that came after past ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.recalibration import Recalibration
from operations.forecasting.calibrated_flow import error_model_of
from operations.verification.issued_pairs import IssueDays, past_scores, settled
from operations.versions.stages import with_progress
from records.database.work import Work
from records.runs.run_weather import RunRecalibration
from records.versions import error_models, versions

log = structlog.get_logger()

MIN_ISSUE_DAYS = 10
"""Issue days T0 with a weather model before its forecasts are recalibrated; their weight grows with their number."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """A recalibration that was fitted.

    Attributes:
        weather: the weather model.
        fitted: as runs store it.
    """

    version_id: str
    weather: str
    fitted: RunRecalibration


def recalibrate(work: Work, version_id: str, weather: str | None = None) -> list[Recalibrated]:
    """Fit the recalibration of a version's forecasts with each weather model, replacing the one before.

    Args:
        weather: the name of one weather model; None for all.

    Raises:
        UnknownVersion: there is none of that id.
        DataProblem: forecasts of too few days are there and observed with every weather model, or the version has no
            error model, without which they have no distribution.
    """
    with work.database.reading() as session:
        version = versions.get(session, version_id)
        by_weather = [of for of in settled(session, work.clock, version_id) if weather in (None, of.weather)]
        errors = error_model_of(session, version, [])
        ready = [of for of in by_weather if len(of.days) >= MIN_ISSUE_DAYS]
        scores = [past_scores(session, version, of) for of in with_progress("past forecasts, weather models", ready)]
    fits = [
        Recalibrated(version_id, of.weather, _fitted(of, of_weather))
        for of, of_weather in zip(ready, scores, strict=True)
        if sum(np.isfinite(of_day).any() for of_day in of_weather) >= MIN_ISSUE_DAYS
    ]
    if not fits:
        raise DataProblem(str(errors) if isinstance(errors, Absent) else too_few(version_id, by_weather))
    with work.database.transaction() as session:
        for of in fits:
            error_models.replace_recalibration(session, version_id, of.weather, of.fitted, work.clock.wall())
    for of in fits:
        log.info("recalibrate.done", version=version_id, weather=of.weather, issue_days=of.fitted.issue_days)
    return fits


def too_few(version_id: str, by_weather: Sequence[IssueDays]) -> str:
    """Describe how many issue days a version's forecasts still lack."""
    there = ", ".join(f"{len(of.days)} with {of.weather}" for of in by_weather) or "none"
    return (
        f"Forecasts of version {version_id} with a weather forecast are recalibrated once {MIN_ISSUE_DAYS} days T0 "
        "with one weather model have been observed, 30 days ago at least, and had a calibrated distribution that was "
        "fitted to other days, as the weights were. So far: "
        f"{there} (fitted to or not). Past issues of a weather model give them at once: freshet feeds backfill."
    )


def _fitted(issue_days: IssueDays, scores: Sequence[np.typing.NDArray[np.float64]]) -> RunRecalibration:
    known = [of_day for of_day in scores if np.isfinite(of_day).any()]
    fitted = Recalibration.fit(known)
    return RunRecalibration(
        fitted_on=str(Period(issue_days.days[0], issue_days.days[-1])),
        issue_days=len(known),
        reforecast_days=min(issue_days.reforecast_days, len(known)),
        days=sum(int(np.isfinite(of_day).sum()) for of_day in known),
        centre=fitted.centre.round(_DIGITS).tolist(),
        spread=fitted.spread.round(_DIGITS).tolist(),
    )
