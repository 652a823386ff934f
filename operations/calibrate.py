"""Fitting a version's error model: to its simulation of years that its weights were not fitted to.

The simulation starts at an empty store on the first day of a basin's record, as the forecasts' states do. A version
that has learnt from every year has the errors of its twin, which has not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from hydrology.calendar import Period
from hydrology.error_fit import Pairs, fit
from hydrology.errors import DataProblem, InvalidInput
from jobspec.training import used_periods
from models.nets.products import BLOCK
from operations.loading import load_version
from operations.simulated import simulated
from records import error_models, versions
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Calibrated:
    """An error model that was fitted.

    Attributes:
        version_id: whose error model was asked for; fitted: whose it is, its twin's or its own.
        days: how many observed days it rests on.
        own: how many of its basins have numbers of their own.
        left_out: why basins are not in it.
    """

    version_id: str
    fitted: str
    period: Period
    basins: tuple[str, ...]
    own: int
    days: int
    sha256: str
    left_out: dict[str, str]


def calibrate(
    database: Database,
    clock: Clock,
    version_id: str,
    basins: Sequence[str],
    period: Period | None = None,
    on_basins: Callable[[int, int], None] = lambda _done, _total: None,
) -> Calibrated:
    """Fit the error model of a version, or of its twin, and keep it in place of the one before.

    Args:
        basins: to fit it to; those of the version that have observed flow.
        period: days that the weights were not fitted to; the validation period unless given.
        on_basins: gets how many basins are simulated, of how many.

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
    pairs: dict[str, Pairs] = {}
    left_out: dict[str, str] = {}
    for first in range(0, len(basins), BLOCK):
        for basin in simulated(database, loaded, period, basins[first : first + BLOCK], left_out):
            pairs[basin.id] = Pairs(basin.members.mean(axis=0, dtype=np.float64), basin.observed)
        on_basins(len(pairs) + len(left_out), len(basins))
    if not pairs:
        raise DataProblem(f"No basin has forcing and flow over {period}. {' '.join(list(left_out.values())[:3])}")
    model = fit(pairs)
    new = error_models.NewErrorModel(
        version_id=fitted.id,
        first=period.first,
        last=period.last,
        days=model.days,
        shape=model.shape,
        basins=model.basins,
    )
    with database.transaction() as session:
        sha256 = error_models.replace(session, new, clock.wall())
    log.info("calibrate.done", version=fitted.id, basins=len(pairs), left_out=len(left_out))
    own = sum(errors.days > 0 for errors in model.basins.values())
    return Calibrated(version_id, fitted.id, period, tuple(pairs), own, model.days, sha256, left_out)


def _days(version: versions.Version, period: Period | None) -> Period:
    """Return the days to fit on: they are none that the weights were fitted to."""
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
