"""Reruns of past forecasts from stored states: their inputs, and the mean flow of each."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from jobspec.jobs.forecasting import ForecastParams
from models.arrays import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.plan.plans import plans_of_part
from operations.forecasting.plan.types import PartInputs
from operations.forecasting.simulate import InitialState, mean_discharge
from operations.forecasting.weather.fill import as_stored
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import advance
from operations.versions.load_networks import LoadedVersion
from records.database.work import Work
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_types import NewRun, RunBasin
from records.runs.run_weather import FilledWeather, RunPart
from records.runs.states import State
from runtime.clock import Clock

Flow = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """A version with members of its own, its share of the flow, a state, and the weather of the days after it."""

    loaded: LoadedVersion
    weight: float
    state: State
    weather: Forcing


def weather_of(work: Work, inputs: PartInputs, run: NewRun, basins: Mapping[str, RunBasin]) -> dict[str, WeatherAhead]:
    """Return the weather after T0 that a run used, or that a part of another version takes in its place, by basin.

    Weather forecasts are stored as issued. Basins whose weather is no longer stored are left out, and those in which
    the run filled weather and did not use the product: what would fill that now was not known then.
    """
    product, filled = inputs.part.product, dict[str, Sequence[FilledWeather]]()
    for name, basin in basins.items():
        by_product = {share.product: share.filled_weather for share in run_types.shares_of(run, basin)}
        if product in by_product or not any(by_product.values()):
            filled[name] = by_product.get(product, ())
    names = [*filled]
    known = inputs.only(names)
    if not known.forcings:
        return {}
    used = None if run.weather is None else run.weather.id
    params = ForecastParams(
        basins=names, t0=run.t0, horizon=run.horizon_days - run.filled_days, weather=run.forcing_kind, weather_id=used
    )
    possible, _ = plans_of_part(
        replace(work, clock=Clock(run.issued_at)), known, params, filling=as_stored(run, filled)
    )
    whole = [plan for plan in possible if plan.days.horizon == run.horizon_days]
    return {name: ahead for plan in whole for name, ahead in plan.weather.items()}


def states_at(work: Work, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing], day: Day) -> dict[str, State]:
    """Return the states of a day by the data as they are stored now, none of them stored anew.

    Basins whose states are wrong, or whose record does not hold the day, are left out.
    """
    within = {name: forcing for name, forcing in forcings.items() if forcing.period.first <= day <= forcing.period.last}
    advanced = advance(work.quiet, loaded, within, day, store_states=False)
    return {name: of.state for name, of in advanced.items() if of.state is not None and of.problem is None}


def state_as_issued(session: Session, share: RunPart, basin: str, t0: Day) -> State | None:
    """Return the state of T0 that a run started from, valid or not; None where it is no longer stored."""
    stored = states.get(session, share.version, basin, t0)
    return stored if stored is not None and stored.sha256 == share.state_hash else None


def joined(first: Forcing, then: Forcing) -> Forcing:
    """Return the weather of days and those that follow, by trace; where one has fewer, they are repeated."""
    count = np.arange(max(len(first.ids), len(then.ids)))
    one, other = first.basins(count % len(first.ids)), then.basins(count % len(then.ids))
    return replace(
        one,
        mass=np.concatenate([one.mass, other.mass], axis=1),
        auxiliary=np.concatenate([one.auxiliary, other.auxiliary], axis=1),
    )


def mean_flows(reruns: Mapping[Hashable, Sequence[Share]]) -> dict[Hashable, Flow]:
    """Return each rerun's mean flow, (days,) in mm/day; those of the same version and days run together."""
    alike: dict[tuple[str, str], list[tuple[Hashable, Share]]] = defaultdict(list)
    for key, shares in reruns.items():
        for share in shares:
            alike[share.loaded.version.id, str(share.weather.period)].append((key, share))
    flows: dict[Hashable, Flow] = {}
    for together in alike.values():
        starts = [InitialState(share.state, WeatherAhead(None, share.weather), None) for _, share in together]
        of_shares = mean_discharge(together[0][1].loaded, starts)
        for (key, share), flow in zip(together, of_shares, strict=True):
            flows[key] = flows.get(key, 0.0) + share.weight * flow.mean(axis=0)
    return flows


def flow_series(session: Session, run: str, basins: Sequence[str]) -> dict[str, Mapping[str, run_arrays.RunSeries]]:
    """Return the arrays of a run's flow by basin: of the members or their mean, and the calibrated quantiles."""
    wanted = ("discharge", run_arrays.MEAN_OF_MEMBERS, run_arrays.CALIBRATED)
    found = runs.series_of_many(session, [(run, basin) for basin in basins], wanted)
    return {basin: series for (_, basin), series in found.items()}
