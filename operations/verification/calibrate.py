"""Fits a version's error model to its simulation of years that its weights were not fitted to.

The simulation starts at an empty store on the first day of a basin's record, as the forecasts' states do. A version
that has learnt from every year has the errors of its twin, which has not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.uncertainty.error_fit import ErrorPairs, fit
from hydrology.uncertainty.weighted import weighted_mean
from models.error_networks import with_networks
from operations.forecasting.calibrated_flow import error_model_of
from operations.verification.past_simulation import PastDays, in_blocks
from operations.versions.load_networks import load_version
from records.database.work import Work
from records.versions import error_models, versions

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Calibrated:
    """An error model that was fitted to a version or its twin; `own` basins have parameters of their own."""

    version_id: str
    fitted: str
    period: Period
    basins: tuple[str, ...]
    own: int
    days: int
    sha256: str
    left_out: dict[str, Absent]


def calibrate(work: Work, version_id: str, basins: Sequence[str], period: Period | None = None) -> Calibrated:
    """Fit and store the error model of a version, or of its twin, replacing the one before.

    The parts of a combined version without an error model get one, too: it serves where other parts are missing. By
    default it is fitted to the version's basins with observed flow, in its validation period. Days that the weights
    were fitted to in one of the basins are refused.
    """
    with work.database.reading() as session:
        fitted = versions.get(session, versions.get(session, version_id).scored_as)
        period = _days(fitted, period, basins)
        loaded = load_version(session, fitted.id)
    for part in fitted.combines:
        with work.database.reading() as session:
            missing = isinstance(error_model_of(session, versions.get(session, part.version), []), Absent)
        if missing:
            try:
                calibrate(work.quiet, part.version, basins, period)
            except DataProblem as problem:
                log.warning("calibrate.without_part", version=part.version, error=str(problem))
    past = PastDays(work.database, period, fitted.area_products)
    pairs: dict[str, ErrorPairs] = {}
    for names in in_blocks(basins):
        for basin in past.simulated(loaded, names):
            pairs[basin.id] = ErrorPairs(weighted_mean(basin.members, basin.weights), basin.observed)
        work.show(len(pairs) + len(past.left_out), len(basins))
    if not pairs:
        raise DataProblem(f"No basin has forcing and flow over {period}. {first_texts(past.left_out)}")
    model = with_networks(fit(pairs), pairs)
    new = error_models.NewErrorModel(
        version_id=fitted.id,
        first=period.first,
        last=period.last,
        days=model.days,
        shape=model.shape,
        regional=model.regional,
        basins=model.basins,
    )
    with work.database.transaction() as session:
        sha256 = error_models.replace(session, new, work.clock.wall())
    log.info("calibrate.done", version=fitted.id, basins=len(model.basins))
    return Calibrated(
        version_id=version_id,
        fitted=fitted.id,
        period=period,
        basins=tuple(model.basins),
        own=sum(errors.days > 0 for errors in model.basins.values()),
        days=model.days,
        sha256=sha256,
        left_out=past.left_out,
    )


def _days(version: versions.Version, period: Period | None, basins: Sequence[str]) -> Period:
    """Return the days to fit on, after checking that the weights were not fitted to them in one of the basins."""
    period = period or version.validation_period
    if period is None:
        raise InvalidInput(
            f"Version {version.id} has no validation period: give one that its training did not fit (--period)."
        )
    for days in () if set(basins).isdisjoint(version.basins) else version.fitted_periods:
        if period.overlap(days) is not None:
            raise InvalidInput(
                f"{period} overlaps {days}, which version {version.id} was fitted to: there its errors are smaller "
                "than they will be. Choose other days."
            )
    return period
