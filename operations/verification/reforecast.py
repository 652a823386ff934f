"""Reforecasts: skill by lead time of past forecasts with observed weather, verified against observations.

With observed weather a forecast equals the simulation, because the state of T0 is the simulation's own. So a basin is
simulated once, from an empty store on the first day of its record, and this yields the forecasts of every T0. For
forecasts with forecast weather the result is the skill they would have if that weather were right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.climatology.normals import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.forecasts import CALIBRATED, Reforecasts
from hydrology.verification.results import high_flow
from hydrology.verification.verify import verify
from operations.basin_data.dataset import forcings_of, load_discharge
from operations.forecasting.calibrated_flow import error_model_of, errors_in
from operations.forecasting.calibration import add_ungauged
from operations.verification.past_simulation import PastDays, SimulatedBasin, StoredPart, in_blocks
from operations.versions.learnt_days import require_held_out, require_not_fitted, version_to_score
from operations.versions.load_networks import LoadedVersion, load_version
from records.database.work import Work
from records.runs.run_weather import OBSERVED
from records.verification import lead_scores
from records.versions import error_models, versions

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Reforecast:
    """The outcome of a reforecast; `scored` is the version or its twin, `error_model` a fingerprint."""

    version_id: str
    scored: str
    period: Period
    basins: tuple[str, ...]
    error_model: str | None
    left_out: dict[str, Absent]


def reforecast(
    work: Work, version_id: str, basins: Sequence[str], period: Period, *, every: int, horizon: int
) -> Reforecast:
    """Reforecast a period and store the skill, replacing that of the same reforecast before.

    A version that has fitted days of the period itself is judged by its twin; that too must not be fitted to them, nor
    the error model. There are `every` days from one T0 to the next, and leads up to the horizon.
    """
    part = reforecast_part(work, version_id, basins, period, every=every, horizon=horizon)
    return conclude(work, version_id, period, [part])


def judged_by(work: Work, version_id: str, period: Period) -> tuple[versions.Version, error_models.ErrorModel | Absent]:
    """Return the version that is judged over a period, it or its twin, and its error model; refuse fitted days."""
    with work.database.reading() as session:
        scored = version_to_score(session, versions.get(session, version_id), period)
        require_held_out(scored, period)
        used = error_model_of(session, scored, [])
    if not isinstance(used, Absent):
        require_not_fitted(used, period)
    return scored, used


def reforecast_part(
    work: Work, version_id: str, basins: Sequence[str], period: Period, *, every: int, horizon: int
) -> StoredPart:
    """Reforecast a part of the basins and store the skill, as `reforecast` does."""
    scored, _ = judged_by(work, version_id, period)
    with work.database.reading() as session:
        loaded = load_version(session, scored.id)
    past = PastDays(work.database, period, scored.area_products)
    reforecasts = _Reforecasts(work, past, loaded, every, range(1, horizon + 1))
    done: list[str] = []
    for names in in_blocks(basins):
        done += reforecasts.store(names)
        work.show(len(done) + len(past.left_out), len(basins))
    return StoredPart(done, past.left_out)


def conclude(work: Work, version_id: str, period: Period, parts: Sequence[StoredPart]) -> Reforecast:
    """Join the parts of a reforecast."""
    scored, used = judged_by(work, version_id, period)
    whole = StoredPart.joined(parts)
    log.info("reforecast.done", version=scored.id, basins=len(whole.basins), left_out=len(whole.left_out))
    fingerprint = None if isinstance(used, Absent) else used.sha256
    return Reforecast(version_id, scored.id, period, tuple(whole.basins), fingerprint, whole.left_out)


@dataclass(frozen=True, slots=True)
class _Reforecasts:
    work: Work
    past: PastDays
    loaded: LoadedVersion
    every: int
    leads: range

    def store(self, names: Sequence[str]) -> list[str]:
        """Store the skill in a block of basins. Return those that have one."""
        model, done = self._error_model_for(names), []
        for basin in self.past.simulated(self.loaded, names):
            rows = [*self._rows(basin, model)]
            with self.work.database.transaction() as session:
                lead_scores.replace(session, rows)
            done.append(basin.id)
        return done

    def _error_model_for(self, names: Sequence[str]) -> error_models.ErrorModel | Absent:
        """Return the error model; that of a combined version knows the basins of its fit alone."""
        loaded = self.loaded
        if not loaded.version.combines:
            with self.work.database.reading() as session:
                found = forcings_of(session, loaded, names)
            forcings = {name: forcing for name, forcing in found.items() if not isinstance(forcing, Absent)}
            add_ungauged(self.work.quiet, loaded, forcings)
        with self.work.database.reading() as session:
            return error_model_of(session, loaded.version, names)

    def _rows(
        self, basin: SimulatedBasin, model: error_models.ErrorModel | Absent
    ) -> Iterator[lead_scores.BasinVerification]:
        version, period = self.loaded.version, self.past.period
        errors = model if isinstance(model, Absent) else errors_in(model, basin.id)
        fingerprint = None if isinstance(model, Absent) or isinstance(errors, Absent) else model.sha256
        with self.work.database.reading() as session:
            flow = load_discharge(session, basin.id, self.past.products, basin.record)
        assert not isinstance(flow, Absent)  # the period lies within the record, and has flow
        climatology = FlowClimatology(basin.record.days, flow.astype(np.float64), LEVELS)
        members = basin.members.astype(np.float64)
        reforecasts = Reforecasts(period.days, members, basin.observed, climatology, errors, basin.weights)
        threshold = high_flow(basin.observed)
        for lead in self.leads:
            forecasts = reforecasts.at(lead, self.every)
            judged = forecasts.judged(threshold)
            for forecaster, season, scores in verify(judged, forecasts.days, forecasts.observed, threshold, lead):
                yield lead_scores.BasinVerification(
                    version_id=version.id,
                    basin_id=basin.id,
                    origin="reforecast",
                    weather=OBSERVED,
                    first_day=period.first,
                    last_day=period.last,
                    forecaster=forecaster,
                    lead=lead,
                    season=season,
                    every_days=self.every,
                    error_model=fingerprint if forecaster == CALIBRATED else None,
                    attributes_assumed=list(basin.assumed),
                    period_use=version.use_of(period, basin.id),
                    scores=scores,
                    verified_at=self.work.clock.wall(),
                )
