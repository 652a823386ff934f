"""Splits the errors of verified forecasts by cause, once, when the flow of all their days has settled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.orm import Session

from hydrology.attribution import split_error
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, month
from hydrology.verification.results import ALL_YEAR, SEASONS
from models.forcing import Forcing
from operations.basin_data.dataset import load_discharge
from operations.forecasting.plans import ForecastInputs, PartInputs, read_inputs
from operations.forecasting.reruns import Flow, Share, flow_series, mean_flows, states_at
from operations.forecasting.weather_ahead import RunDays, observed
from operations.states.advance_states import ONE_DAY
from records.database.stored import grouped
from records.database.work import Work
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_types import RunBasin
from records.runs.tables import State
from records.verification import error_splits
from records.verification.error_splits import ForecastError
from records.versions.versions import Version
from runtime.clock import Clock

_Known = Mapping[str, tuple[State, Forcing]]
"""The state of T0 by the data as they are now, and the observed weather of the days ahead, by basin."""


def split_errors(work: Work, version: Version, last: Day) -> int:
    """Split the errors of a version's operational forecasts, and store them. Return their number.

    A forecast counts once all its days are observed until the last one that has settled, unless the weights were fitted
    to one of its days. One whose state is no longer stored is left out. Repeating it stores nothing new.
    """
    learnt = [Period.parse(days) for days in version.used_periods]
    with work.database.reading() as session:
        settled = [
            run
            for run in runs.issued_runs(session, version.id, last - ONE_DAY)
            if run.last_day <= last and not any(_ahead(run).overlap(days) for days in learnt)
        ]
        done = error_splits.split_basins(session, [run.id for run in settled])
        left = grouped(pair for pair in runs.issued_pairs(session, [run.id for run in settled]) if pair not in done)
    if not left:
        return 0
    names = sorted({name for of_run in left.values() for name in of_run})
    inputs = read_inputs(work.database, version.id, names)
    return sum(_split_run(work, inputs, run, left[run.id]) for run in settled if run.id in left)


def _ahead(run: run_types.Run) -> Period:
    return RunDays(run.t0, run.horizon_days).ahead


@dataclass(frozen=True, slots=True)
class _Case:
    """A forecast with observed flow, (days,) in mm/day, and what it is computed again from, with observed weather.

    The states are as issued, and of the same day by the data as they are now (`revised`).
    """

    basin: str
    flow: Flow
    issued: Sequence[Share]
    revised: Sequence[Share]

    @property
    def is_revised(self) -> bool:
        return [share.state.sha256 for share in self.issued] != [share.state.sha256 for share in self.revised]


def _split_run(work: Work, inputs: ForecastInputs, run: run_types.Run, names: Sequence[str]) -> int:
    with work.database.reading() as session:
        of_basins = {basin.basin_id: basin for basin in runs.basins_of(session, run.id) if basin.basin_id in names}
    known = {version: _known(work, one, run, names) for version, one in inputs.by_version.items()}
    with work.database.reading() as session:
        cases = [case for basin in of_basins.values() for case in _cases(session, inputs, run, basin, known)]
        issued = flow_series(session, run.id, [case.basin for case in cases])
    reruns: dict[object, Sequence[Share]] = {(case.basin, "revised"): case.revised for case in cases}
    reruns |= {(case.basin, "issued"): case.issued for case in cases if case.is_revised}
    flows = mean_flows(reruns)
    errors = [_error(work.clock, run, case, run_arrays.mean_of_members(issued[case.basin]), flows) for case in cases]
    with work.database.transaction() as session:
        done = error_splits.split_basins(session, [run.id])
        error_splits.store(session, [error for error in errors if (run.id, error.basin_id) not in done])
    return len(errors)


def _known(work: Work, inputs: PartInputs, run: run_types.Run, names: Sequence[str]) -> _Known:
    days = RunDays(run.t0, run.horizon_days)
    forcings = {name: inputs.forcings[name] for name in names if name in inputs.forcings}
    weather = {name: observed(name, forcing, days, days.ahead.last) for name, forcing in forcings.items()}
    came = {name: ahead.forcing for name, ahead in weather.items() if not isinstance(ahead, Absent)}
    revised = states_at(work, inputs.loaded, {name: forcings[name] for name in came}, run.t0)
    return {name: (state, came[name]) for name, state in revised.items()}


def _cases(
    session: Session, inputs: ForecastInputs, run: run_types.Run, basin: RunBasin, known: Mapping[str, _Known]
) -> Iterator[_Case]:
    """Yield the case of a basin with flow observed on every day and states stored as the run used them."""
    name, shares = basin.basin_id, run_types.shares_of(run, basin)
    if basin.is_spinning_up or not all(name in known.get(share.version, {}) for share in shares):
        return
    flow = load_discharge(session, name, inputs.loaded.version.area_products, _ahead(run))
    issued, revised = list[Share](), list[Share]()
    for share in shares:
        state, weather = known[share.version][name]
        used: State | None = state
        if state.sha256 != share.state_hash:
            used = states.get(session, share.version, name, run.t0)
        if used is not None and used.sha256 == share.state_hash:
            loaded = inputs.by_version[share.version].loaded
            revised.append(Share(loaded, share.weight, state, weather))
            issued.append(replace(revised[-1], state=used))
    if len(issued) == len(shares) and not isinstance(flow, Absent) and np.isfinite(flow).all():
        yield _Case(name, flow.astype(np.float64), issued, revised)


def _error(
    clock: Clock, run: run_types.Run, case: _Case, forecast: Flow, flows: Mapping[object, Flow]
) -> ForecastError:
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
        weather=run.weather_name,
        season=next(name for name, months in SEASONS.items() if name != ALL_YEAR and first in months),
        volume=split_error("volume", *of_each),
        peak=split_error("peak", *of_each),
        verified_at=clock.wall(),
    )
