"""Splits the errors of verified forecasts by cause, once, when the flow of all their days has settled."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.attribution.forecast_error import split_error
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, month
from hydrology.verification.results import ALL_YEAR, SEASONS
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import load_discharge
from operations.forecasting.days import RunDays
from operations.forecasting.forecast_plan import ForecastInputs, read_inputs
from operations.forecasting.reruns import Flow, Start, flow_series, mean_flows, state_as_issued, states_at
from operations.forecasting.weather_ahead import observed
from operations.states.advance_states import ONE_DAY
from records.database.engine import Database
from records.runs import runs
from records.runs.states import State
from records.verification import error_splits
from records.verification.error_splits import ForecastError
from records.versions.versions import Version
from runtime.clock import Clock


def split_errors(database: Database, clock: Clock, version: Version, last: Day) -> int:
    """Split the errors of a version's operational forecasts, and store them. Return their number.

    A forecast counts once all its days are observed until the last one that has settled, unless the weights were fitted
    to one of its days. One whose state is no longer stored is left out. Repeating it stores nothing new. Errors of a
    version that combines others are not split yet.
    """
    if version.parts:
        return 0
    learnt = [Period.parse(days) for days in version.used_periods]
    with database.reading() as session:
        settled = [
            run
            for run in runs.operational(session, version.id, last - ONE_DAY)
            if _ahead(run).last <= last and not any(_ahead(run).overlap(days) for days in learnt)
        ]
        done = error_splits.split_basins(session, [run.id for run in settled])
        left: dict[str, list[str]] = defaultdict(list)
        for run_id, basin in runs.issued_pairs(session, [run.id for run in settled]):
            if (run_id, basin) not in done:
                left[run_id].append(basin)
    if not left:
        return 0
    names = sorted({name for of_run in left.values() for name in of_run})
    inputs = read_inputs(database, ForecastParams(), version.id, names)
    return sum(_split_run(database, clock, inputs, run, left[run.id]) for run in settled if run.id in left)


def _ahead(run: runs.Run) -> Period:
    return RunDays(run.t0, run.horizon_days).ahead


@dataclass(frozen=True, slots=True)
class _Case:
    """A forecast with observed flow, (days,) in mm/day, and the states that it is computed again from.

    Attributes:
        issued: the state that it started from.
        revised: that of the same day, by the data as they are now.
    """

    basin: str
    flow: Flow
    issued: State
    revised: State

    @property
    def is_revised(self) -> bool:
        return self.issued.sha256 != self.revised.sha256


def _split_run(database: Database, clock: Clock, inputs: ForecastInputs, run: runs.Run, names: Sequence[str]) -> int:
    """Split the errors of a run in some basins, and store them. Return their number."""
    days = RunDays(run.t0, run.horizon_days)
    forcings = {name: inputs.forcings[name] for name in names if name in inputs.forcings}
    weather = {name: observed(name, forcing, days, days.ahead.last) for name, forcing in forcings.items()}
    known = {name: ahead.forcing for name, ahead in weather.items() if not isinstance(ahead, Absent)}
    revised = states_at(database, clock, inputs.loaded, {name: forcings[name] for name in known}, run.t0)
    with database.reading() as session:
        cases = [*_cases(session, inputs, run, revised)]
        issued = flow_series(session, run.id, [case.basin for case in cases])
    starts: dict[object, Start] = {(case.basin, "revised"): (case.revised, known[case.basin]) for case in cases}
    starts |= {(case.basin, "issued"): (case.issued, known[case.basin]) for case in cases if case.is_revised}
    flows = mean_flows(inputs.loaded, starts)
    errors = [_error(clock, run, case, runs.mean_of_members(issued[case.basin]), flows) for case in cases]
    with database.transaction() as session:
        done = error_splits.split_basins(session, [run.id])
        error_splits.store(session, [error for error in errors if (run.id, error.basin_id) not in done])
    return len(errors)


def _cases(session: Session, inputs: ForecastInputs, run: runs.Run, revised: Mapping[str, State]) -> Iterator[_Case]:
    """Yield the basins whose flow is observed on every day, and whose state is stored as the run used it."""
    of_basins = {basin.basin_id: basin for basin in runs.basins_of(session, run.id)}
    for name, state in revised.items():
        basin = of_basins[name]
        if basin.is_spinning_up:
            continue
        issued = state if state.sha256 == basin.state_hash else state_as_issued(session, run, basin)
        flow = load_discharge(session, name, inputs.loaded.version.area_products, _ahead(run))
        if issued is not None and not isinstance(flow, Absent) and np.isfinite(flow).all():
            yield _Case(name, flow.astype(np.float64), issued, state)


def _error(clock: Clock, run: runs.Run, case: _Case, forecast: Flow, flows: Mapping[object, Flow]) -> ForecastError:
    from_revised = flows[case.basin, "revised"]
    from_issued = flows[case.basin, "issued"] if case.is_revised else from_revised
    of_each = forecast, from_issued, from_revised, case.flow
    first = int(month(np.array([run.t0 + ONE_DAY]))[0])
    return ForecastError(
        run_id=run.id,
        basin_id=case.basin,
        version_id=run.version_id,
        t0=run.t0,
        horizon_days=run.horizon_days,
        weather=run.weather.name if run.weather else run.forcing_kind,
        season=next(name for name, months in SEASONS.items() if name != ALL_YEAR and first in months),
        volume=split_error("volume", *of_each),
        peak=split_error("peak", *of_each),
        verified_at=clock.wall(),
    )
