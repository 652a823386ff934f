"""Reruns of past forecasts from stored states: their inputs, and the mean flow of each."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from jobspec.jobs.forecasting import ForecastParams
from models.arrays import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.forecast_plan import ForecastInputs, possible_plans
from operations.forecasting.simulate import InitialState, mean_discharge
from operations.forecasting.weather.fill import Filling, as_stored
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import advance
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs import runs, states
from records.runs.filled_weather import FilledWeather
from records.runs.runs import NewRun
from records.runs.states import State
from runtime.clock import Clock

Start = tuple[State, Forcing]
"""A state, and the weather of the days after it."""
Flow = npt.NDArray[np.float64]


def weather_of(
    database: Database, inputs: ForecastInputs, run: NewRun, filled: Mapping[str, Sequence[FilledWeather]]
) -> dict[str, Forcing]:
    """Return the weather after T0 that a run used, or that another version takes in its place, by basin.

    Weather forecasts are stored as issued. Basins whose weather is no longer stored are left out.

    Args:
        filled: its filled weather by basin; no basin is returned for another product.
    """
    names = [*filled]
    known = inputs.only(names)
    if not known.forcings:
        return {}
    used = None if run.weather is None else run.weather.id
    params = ForecastParams(
        basins=names, t0=run.t0, horizon=run.horizon_days - run.filled_days, weather=run.forcing_kind, weather_id=used
    )
    same_product = inputs.loaded.version.product == run.product
    if not same_product and any(filled.values()):
        return {}  # what would fill another product now was not known then
    filling = as_stored(run, filled) if same_product else Filling(days=0, climatology=False)
    possible, _ = possible_plans(database, known, Clock(run.issued_at), params, filling=filling)
    whole = [plan for plan in possible if plan.days.horizon == run.horizon_days]
    return {name: ahead.forcing for plan in whole for name, ahead in plan.weather.items()}


def states_at(
    database: Database, clock: Clock, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing], day: Day
) -> dict[str, State]:
    """Return the states of a day by the data as they are stored now, none of them stored anew.

    Basins whose states are wrong, or whose record does not hold the day, are left out.
    """
    within = {name: forcing for name, forcing in forcings.items() if forcing.period.first <= day <= forcing.period.last}
    advanced = advance(database, clock, loaded, within, day, wanted=False)
    return {name: of.state for name, of in advanced.items() if of.state is not None and of.problem is None}


def state_as_issued(session: Session, run: NewRun, basin: runs.RunBasin) -> State | None:
    """Return the state of T0 that a run started from, valid or not; None where it is no longer stored."""
    stored = states.get(session, run.version_id, basin.basin_id, run.t0)
    return stored if stored is not None and stored.sha256 == basin.state_hash else None


def joined(first: Forcing, then: Forcing) -> Forcing:
    """Return the weather of days and of those that follow them, trace by trace.

    Where one has fewer traces, they are repeated.
    """
    count = np.arange(max(len(first.ids), len(then.ids)))
    one, other = first.basins(count % len(first.ids)), then.basins(count % len(then.ids))
    return replace(
        one,
        mass=np.concatenate([one.mass, other.mass], axis=1),
        auxiliary=np.concatenate([one.auxiliary, other.auxiliary], axis=1),
    )


def mean_flows(loaded: LoadedVersion, starts: Mapping[Hashable, Start]) -> dict[Hashable, Flow]:
    """Return the mean flow over members and traces from each state with its weather, (days,) in mm/day.

    Reruns of the same days are computed together.
    """
    by_days: dict[str, list[Hashable]] = defaultdict(list)
    for key, (_, weather) in starts.items():
        by_days[str(weather.period)].append(key)
    flows: dict[Hashable, Flow] = {}
    for keys in by_days.values():
        chosen = [starts[key] for key in keys]
        together = [InitialState(state, WeatherAhead(None, weather), None) for state, weather in chosen]
        flows |= zip(keys, (flow.mean(axis=0) for flow in mean_discharge(loaded, together)), strict=True)
    return flows


def flow_series(session: Session, run: str, basins: Sequence[str]) -> dict[str, Mapping[str, runs.RunSeries]]:
    """Return the arrays of a run's flow by basin: of the members or their mean, and the calibrated quantiles."""
    wanted = ("discharge", runs.MEAN_OF_MEMBERS, runs.CALIBRATED)
    found = runs.series_of_many(session, [(run, basin) for basin in basins], wanted)
    return {basin: series for (_, basin), series in found.items()}
