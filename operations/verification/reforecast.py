"""Reforecasts: skill by lead time of past forecasts with observed weather, verified against observations.

With observed weather a forecast equals the simulation, because the state of T0 is the simulation's own. So a basin is
simulated once, from an empty store on the first day of its record, and this yields the forecasts of every T0. For
forecasts with forecast weather the result is the skill they would have if that weather were right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.climatology.normals import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel
from hydrology.verification.forecasts import CALIBRATED, Reforecasts
from hydrology.verification.results import high_flow
from hydrology.verification.verify import verify
from models.nets.layers import BLOCK
from operations.basin_data.dataset import forcings_of, load_discharge
from operations.forecasting.calibrated_flow import error_model_of, errors_in
from operations.forecasting.calibration import error_model_for
from operations.verification.past_simulation import SimulatedBasin, simulated
from operations.versions.learnt_days import require_held_out, require_not_fitted, version_to_score
from operations.versions.load_networks import LoadedVersion, load_version
from records.database.engine import Database
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


@dataclass(frozen=True, slots=True)
class _Asked:
    period: Period
    every: int
    leads: range


def reforecast(
    work: Work, version_id: str, basins: Sequence[str], period: Period, *, every: int, horizon: int
) -> Reforecast:
    """Reforecast a period and store the skill, replacing that of the same reforecast before.

    A version that has fitted days of the period itself is judged by its twin; that too must not be fitted to them, nor
    the error model. There are `every` days from one T0 to the next, and leads up to the horizon.
    """
    asked = _Asked(period, every, range(1, horizon + 1))
    with work.database.reading() as session:
        scored = version_to_score(session, versions.get(session, version_id), period)
        require_held_out(scored, period)
        used = error_model_of(session, scored, [])
        if not isinstance(used, Absent):
            require_not_fitted(used, period)
        loaded = load_version(session, scored.id)
    done: list[str] = []
    left_out: dict[str, Absent] = {}
    for first in range(0, len(basins), BLOCK):
        done += _block(work.database, work.clock.wall(), loaded, asked, basins[first : first + BLOCK], left_out)
        work.show(len(done) + len(left_out), len(basins))
    if not done:
        raise DataProblem(f"No basin can be reforecast over {period}. {first_texts(left_out)}")
    log.info("reforecast.done", version=scored.id, basins=len(done), left_out=len(left_out))
    fingerprint = None if isinstance(used, Absent) else used.sha256
    return Reforecast(version_id, scored.id, period, tuple(done), fingerprint, left_out)


def _block(
    database: Database,
    at: datetime,
    loaded: LoadedVersion,
    asked: _Asked,
    basins: Sequence[str],
    left_out: dict[str, Absent],
) -> list[str]:
    model = _error_model_for(database, loaded, basins)
    done = []
    for basin in simulated(database, loaded, asked.period, basins, left_out):
        with database.reading() as session:
            climatology = _climatology(session, loaded, basin)
        rows = list(_rows(at, loaded, asked, model, basin, climatology))
        with database.transaction() as session:
            lead_scores.replace(session, rows)
        done.append(basin.id)
    return done


def _error_model_for(
    database: Database, loaded: LoadedVersion, basins: Sequence[str]
) -> error_models.ErrorModel | Absent:
    """Return the error model; that of a combined version knows the basins of its fit alone."""
    if loaded.version.combines:
        with database.reading() as session:
            return error_model_of(session, loaded.version, basins)
    with database.reading() as session:
        found = forcings_of(session, loaded, basins)
    return error_model_for(
        database, loaded, {name: forcing for name, forcing in found.items() if not isinstance(forcing, Absent)}
    )


def _climatology(session: Session, loaded: LoadedVersion, basin: SimulatedBasin) -> FlowClimatology:
    flow = load_discharge(session, basin.id, loaded.version.area_products, basin.record)
    assert not isinstance(flow, Absent)  # the period lies within the record, and has flow
    return FlowClimatology(basin.record.days, flow.astype(np.float64), LEVELS)


def _rows(
    at: datetime,
    loaded: LoadedVersion,
    asked: _Asked,
    model: error_models.ErrorModel | Absent,
    basin: SimulatedBasin,
    climatology: FlowClimatology,
) -> Iterator[lead_scores.BasinVerification]:
    fingerprint, error_model = _error_model(model, basin.id)
    members = basin.members.astype(np.float64)
    reforecasts = Reforecasts(asked.period.days, members, basin.observed, climatology, error_model, basin.weights)
    threshold = high_flow(basin.observed)
    for lead in asked.leads:
        forecasts = reforecasts.at(lead, asked.every)
        judged = forecasts.judged(threshold)
        for forecaster, season, scores in verify(judged, forecasts.days, forecasts.observed, threshold, lead):
            yield lead_scores.BasinVerification(
                version_id=loaded.version.id,
                basin_id=basin.id,
                origin="reforecast",
                weather=OBSERVED,
                first_day=asked.period.first,
                last_day=asked.period.last,
                forecaster=forecaster,
                lead=lead,
                season=season,
                every_days=asked.every,
                error_model=fingerprint if forecaster == CALIBRATED else None,
                attributes_assumed=list(basin.assumed),
                period_use=loaded.version.use_of(asked.period, basin.id),
                scores=scores,
                verified_at=at,
            )


def _error_model(model: error_models.ErrorModel | Absent, basin: str) -> tuple[str | None, BasinErrorModel | Absent]:
    """Return a basin's error model and its fingerprint; or None, and why it has none."""
    if isinstance(model, Absent):
        return None, model
    errors = errors_in(model, basin)
    return (None, errors) if isinstance(errors, Absent) else (model.sha256, errors)
