"""Fits a version's error model to its simulation of years that its weights were not fitted to.

The simulation starts at an empty store on the first day of a basin's record, as the forecasts' states do. A version
that has learnt from every year has the errors of its twin, which has not.

A forecast with a weather forecast also has the error of that. Its error models are fitted to the forecasts that the
version issued with each weather model, and to its reforecasts with past ones, once their flow has been observed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.uncertainty.error_fit import ErrorPairs, Fit, fit, fit_errors
from hydrology.uncertainty.errors_by_lead import PastForecasts
from jobspec.training import used_periods
from models.nets.products import BLOCK
from operations.forecasting.calibrated_flow import error_model_of
from operations.verification.error_pairs import simulated
from operations.verification.issued_pairs import IssueDays, past_forecasts, settled
from operations.versions.load_networks import load_version
from operations.versions.stages import single, stage
from operations.versions.training_domain import attribute_means
from records.database.engine import Database
from records.versions import error_models, promotions, versions
from runtime.clock import Clock

log = structlog.get_logger()

MIN_ISSUE_DAYS = 10
"""Issue days T0 with a weather model before its errors are fitted; their weight grows with their number."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """An error model that was fitted.

    Attributes:
        version_id: the version that was asked for; fitted: the version of the error model, its twin or itself.
        weather: the weather behind the flow that it was fitted to (`error_models.NewErrorModel`).
        days: number of observed days it was fitted to.
        own: number of basins with parameters of their own.
        left_out: why basins are not in it.
    """

    version_id: str
    fitted: str
    weather: str
    period: Period
    basins: tuple[str, ...]
    own: int
    days: int
    sha256: str
    left_out: dict[str, Absent]


def calibrate(
    database: Database,
    clock: Clock,
    version_id: str,
    basins: Sequence[str],
    period: Period | None = None,
    on_basins: Callable[[int, int], None] = lambda _done, _total: None,
) -> Calibrated:
    """Fit and store the error model of a version, or of its twin, replacing the one before.

    Args:
        basins: to fit it to; by default those of the version that have observed flow.
        period: days that the weights were not fitted to; by default the validation period.
        on_basins: called with the number of basins simulated and the total.

    Raises:
        UnknownVersion: there is none of that id.
        InvalidInput: the version was fitted to days of the period, or it has no validation period and none is given.
        DataProblem: the observed days of the period are too few.
    """
    with database.reading() as session:
        version = versions.get(session, version_id)
        fitted = versions.get(session, version.twin_id) if version.twin_id else version
        period = _days(fitted, period)
        loaded = load_version(session, fitted.id)
    pairs: dict[str, ErrorPairs] = {}
    left_out: dict[str, Absent] = {}
    means = attribute_means(loaded.version)
    for first in range(0, len(basins), BLOCK):
        for basin in simulated(database, loaded, period, basins[first : first + BLOCK], left_out, means):
            pairs[basin.id] = ErrorPairs(basin.members.mean(axis=0, dtype=np.float64), basin.observed)
        on_basins(len(pairs) + len(left_out), len(basins))
    if not pairs:
        raise DataProblem(f"No basin has forcing and flow over {period}. {first_texts(left_out)}")
    model = single("error model", lambda: fit(pairs))
    calibrated = _store(database, clock, fitted.id, error_models.OBSERVED, period, model)
    return replace(calibrated, version_id=version_id, left_out=left_out)


def calibrate_forecasts(
    database: Database, clock: Clock, version_id: str, weather: str | None = None
) -> list[Calibrated]:
    """Fit the error models of a version's forecasts with weather forecasts, one for each weather model.

    Args:
        weather: `SOURCE/MODEL`, to fit for this weather model only.

    Raises:
        UnknownVersion: there is none of that id.
        DataProblem: forecasts of too few days have been issued and observed with every weather model, or the version
            has no error model of its simulation, which scales the flows.
    """
    with database.reading() as session:
        version = versions.get(session, version_id)
        names = promotions.basins_of(session, version_id)
        of_simulation = error_model_of(session, version, names)
        if not isinstance(of_simulation, error_models.ErrorModel):
            raise DataProblem(str(of_simulation))
        by_weather = [of for of in settled(session, clock, version_id) if weather in (None, of.weather)]
        ready = [issue_days for issue_days in by_weather if len(issue_days.days) >= MIN_ISSUE_DAYS]
        pairs = {
            of.weather: past_forecasts(session, version, of, of_simulation.basins)
            for of in stage("past forecasts, weather models", ready)
        }
    if not ready:
        raise DataProblem(too_few(version_id, by_weather))
    return [_fitted(database, clock, version_id, issue_days, pairs[issue_days.weather]) for issue_days in ready]


def too_few(version_id: str, by_weather: Sequence[IssueDays]) -> str:
    """Describe how many issue days a version's forecasts still lack."""
    there = ", ".join(f"{len(of.days)} with {of.weather}" for of in by_weather) or "none"
    return (
        f"Forecasts of version {version_id} with a weather forecast are calibrated once {MIN_ISSUE_DAYS} days T0 with "
        f"one weather model have been observed, 30 days ago at least. So far: {there}. Past issues of a weather model "
        "give them at once: freshet feeds backfill."
    )


def _fitted(
    database: Database, clock: Clock, version_id: str, issue_days: IssueDays, pairs: Mapping[str, PastForecasts]
) -> Calibrated:
    period = Period(issue_days.days[0], issue_days.days[-1])
    fitted = fit_errors(pairs)
    return _store(database, clock, version_id, issue_days.weather, period, fitted, issue_days=issue_days)


def _store(
    database: Database,
    clock: Clock,
    version_id: str,
    weather: str,
    period: Period,
    model: Fit,
    *,
    issue_days: IssueDays | None = None,
) -> Calibrated:
    new = error_models.NewErrorModel(
        version_id=version_id,
        weather=weather,
        first=period.first,
        last=period.last,
        days=model.days,
        issue_days=0 if issue_days is None else len(issue_days.days),
        reforecast_days=0 if issue_days is None else issue_days.reforecast_days,
        shape=model.shape,
        regional=model.regional,
        basins=model.basins,
    )
    with database.transaction() as session:
        sha256 = error_models.replace(session, new, clock.wall())
    log.info("calibrate.done", version=version_id, weather=weather, basins=len(model.basins))
    return Calibrated(
        version_id=version_id,
        fitted=version_id,
        weather=weather,
        period=period,
        basins=tuple(model.basins),
        own=sum(errors.days > 0 for errors in model.basins.values()),
        days=model.days,
        sha256=sha256,
        left_out={},
    )


def _days(version: versions.Version, period: Period | None) -> Period:
    """Return the days to fit on, after checking that the weights were not fitted to them."""
    used = used_periods(version.config)
    if period is None:
        period = next((days for purpose, days in used if purpose == "validation"), None)
    if period is None:
        raise InvalidInput(
            f"Version {version.id} has no validation period: give one that its training did not fit (--period)."
        )
    fitted_to = [days for purpose, days in used if purpose == "train"]
    fitted_to += [Period.parse(days) for days in version.earlier_periods]
    for days in fitted_to:
        if period.overlap(days) is not None:
            raise InvalidInput(
                f"{period} overlaps {days}, which version {version.id} was fitted to: there its errors are smaller "
                "than they will be. Choose other days."
            )
    return period
