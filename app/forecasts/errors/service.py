"""Builds the answer about the worst forecasts."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.forecasts.errors.schemas import ErrorParts, ForecastError, MeanErrors, MeanSizes, WorstErrors
from app.forecasts.words import number, signed
from app.http.base_schema import Absences, Period
from hydrology.attribution.forecast_error import CAUSES, ErrorSplit, Measure
from hydrology.base.absent import absent
from hydrology.base.calendar import as_date
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from records.verification import error_splits
from records.verification.error_splits import ErrorFilter

_UNITS: Mapping[Measure, str] = {"volume": "mm", "peak": "mm/day"}


def worst_errors(session: Session, of: Measure, chosen: ErrorFilter, limit: int) -> WorstErrors:
    """Return the forecasts with the largest errors of a measure, and the mean sizes of all."""
    absences, means = Absences(), error_splits.means(session, chosen)
    if means is None:
        absences.present("means", absent(Reason.NO_ERROR_SPLIT))
    return WorstErrors(
        of=of,
        season=chosen.season,
        forecasts=error_splits.count(session, chosen),
        means=None if means is None else _means(means),
        cases=[_case(session, one, of) for one in error_splits.worst(session, of, chosen, limit)],
        missing=absences.texts,
    )


def _means(means: Mapping[Measure, error_splits.MeanError]) -> MeanErrors:
    return MeanErrors(**{measure: MeanSizes(**asdict(mean)) for measure, mean in means.items()})


def _case(session: Session, error: error_splits.ForecastError, of: Measure) -> ForecastError:
    first, last = (error.t0 + np.timedelta64(days, "D") for days in (1, error.horizon_days))
    return ForecastError(
        basin=error.basin_id,
        basin_kind=kind_of(session, error.basin_id),
        run=error.run_id,
        version=error.version_id,
        t0=as_date(error.t0),
        days=Period.between(first, last),
        weather=error.weather,
        volume=ErrorParts(**asdict(error.volume)),
        peak=ErrorParts(**asdict(error.peak)),
        in_words=_in_words(getattr(error, of), of, error.horizon_days),
        verified_at=error.verified_at,
    )


def _in_words(split: ErrorSplit, of: Measure, days: int) -> str:
    what = f"volume of {counted(days, 'day')}" if of == "volume" else f"highest of {counted(days, 'day')}"
    parts = ", ".join(f"{signed(getattr(split, cause))} by the {cause.replace('_', ' ')}" for cause in CAUSES)
    forecast, observed = number(split.observed + split.error), number(split.observed)
    return f"The {what} was forecast as {forecast} {_UNITS[of]}, and {observed} came: {signed(split.error)}, {parts}."
