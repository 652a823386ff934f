"""Fits a version's error model to its simulation of years that its weights were not fitted to.

The simulation starts at an empty store on the first day of a basin's record, as the forecasts' states do. A version
that has learnt from every year has the errors of its twin, which has not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import structlog
from pydantic import Base64Bytes

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.uncertainty.error_fit import ErrorPairs, fit
from hydrology.uncertainty.weighted import weighted_mean
from models.error_networks import with_networks
from operations.forecasting.calibrated_flow import error_model_of
from operations.verification.past_simulation import PastDays, in_blocks
from operations.versions.load_networks import load_version
from records.database.array_codec import Labelled, pack, unpack
from records.database.work import Work
from records.versions import error_models, versions

log = structlog.get_logger()

_OWNER = "a part of a calibration"


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


@dataclass(frozen=True, slots=True)
class SimulatedPart:
    """The outcome of a part of a calibration: simulated and observed flow, packed, and why basins have none.

    All basins are fitted together.
    """

    packed: Base64Bytes
    left_out: dict[str, Absent]

    @classmethod
    def of(cls, pairs: Mapping[str, ErrorPairs], left_out: dict[str, Absent]) -> Self:
        """Pack the flow of basins."""
        arrays = {}
        for name, basin in pairs.items():
            axes = {"flow": ["simulated", "observed"], "day": [*range(len(basin.observed))]}
            arrays[name] = Labelled("mm/day", axes, np.array((basin.simulated, basin.observed)))
        return cls(pack(_OWNER, arrays), left_out)

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls.of({}, dict.fromkeys(names, reason))

    @property
    def pairs(self) -> dict[str, ErrorPairs]:
        """The flow by basin."""
        return {name: ErrorPairs(*flow.values) for name, flow in unpack(_OWNER, self.packed).items()}


def calibrate(work: Work, version_id: str, basins: Sequence[str], period: Period | None = None) -> Calibrated:
    """Fit and store the error model of a version, or of its twin, replacing the one before.

    The parts of a combined version without an error model get one, too: it serves where other parts are missing. By
    default it is fitted to the version's basins with observed flow, in its validation period. Days that the weights
    were fitted to in one of the basins are refused.
    """
    period, to_fit = versions_to_fit(work, version_id, basins, period)
    of_each = {of: work if of == version_id else work.quiet for of in to_fit}
    return conclude(work, period, {of: [simulate_part(at, of, basins, period)] for of, at in of_each.items()})


def versions_to_fit(
    work: Work, version_id: str, basins: Sequence[str], period: Period | None
) -> tuple[Period, list[str]]:
    """Return the days to fit on, and the versions to fit: parts that lack an error model, then the version itself."""
    with work.database.reading() as session:
        fitted = versions.get(session, versions.get(session, version_id).scored_as)
        period = _days(fitted, period, basins)
        parts = [versions.get(session, part.version) for part in fitted.combines]
        lacking = [part for part in parts if isinstance(error_model_of(session, part, []), Absent)]
        for part in lacking:
            _days(versions.get(session, part.scored_as), period, basins)
    return period, [*(part.id for part in lacking), version_id]


def simulate_part(work: Work, version_id: str, basins: Sequence[str], period: Period) -> SimulatedPart:
    """Simulate a part of the basins for the error model of a version."""
    with work.database.reading() as session:
        loaded = load_version(session, versions.get(session, version_id).scored_as)
    past = PastDays(work.database, period, loaded.version.area_products)
    pairs: dict[str, ErrorPairs] = {}
    for names in in_blocks(basins):
        for basin in past.simulated(loaded, names):
            pairs[basin.id] = ErrorPairs(weighted_mean(basin.members, basin.weights), basin.observed)
        work.show(len(pairs) + len(past.left_out), len(basins))
    return SimulatedPart.of({name: pairs[name] for name in basins if name in pairs}, past.left_out)


def conclude(work: Work, period: Period, simulated: Mapping[str, Sequence[SimulatedPart]]) -> Calibrated:
    """Fit and store the error models of versions whose parts are done, and return that of the last version."""
    *combined, asked = simulated
    for part in combined:
        try:
            _fit(work, part, period, simulated[part])
        except DataProblem as problem:
            log.warning("calibrate.without_part", version=part, error=str(problem))
    return _fit(work, asked, period, simulated[asked])


def _fit(work: Work, version_id: str, period: Period, parts: Sequence[SimulatedPart]) -> Calibrated:
    pairs = {name: basin for part in parts for name, basin in part.pairs.items()}
    left_out = {name: reason for part in parts for name, reason in part.left_out.items()}
    if not pairs:
        raise DataProblem(f"No basin has forcing and flow over {period}. {first_texts(left_out)}")
    model = with_networks(fit(pairs), pairs)
    with work.database.transaction() as session:
        fitted = versions.get(session, version_id).scored_as
        new = error_models.NewErrorModel(
            version_id=fitted,
            first=period.first,
            last=period.last,
            days=model.days,
            shape=model.shape,
            regional=model.regional,
            basins=model.basins,
        )
        sha256 = error_models.replace(session, new, work.clock.wall())
    log.info("calibrate.done", version=fitted, basins=len(model.basins))
    return Calibrated(
        version_id=version_id,
        fitted=fitted,
        period=period,
        basins=tuple(model.basins),
        own=sum(errors.days > 0 for errors in model.basins.values()),
        days=model.days,
        sha256=sha256,
        left_out=left_out,
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
