"""Reruns of past forecasts from stored states: their inputs, and the mean flow of each."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.uncertainty.weighted import weighted_mean
from jobspec.jobs.forecasting import ForecastParams
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.plans import PartInputs, Plan, plans_of_part, read_inputs
from operations.forecasting.simulate import InitialState, mean_discharge
from operations.forecasting.weather_ahead import WeatherAhead
from operations.forecasting.weather_choice import as_stored
from operations.states.advance_states import advance
from operations.versions.load_networks import LoadedVersion
from records.database.stored import grouped
from records.database.work import Work
from records.runs import run_arrays, run_types, runs
from records.runs.run_arrays import RunSeries
from records.runs.run_types import BasinResult, NewRun, Run, RunBasin
from records.runs.run_weather import FilledWeather, RunPart
from records.runs.tables import State
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
        basins=names, t0=run.t0, horizon=run.days_to_come, weather=run.forcing_kind, weather_id=used
    )
    possible, _ = plans_of_part(
        replace(work, clock=Clock(run.issued_at)), known, params, filling=as_stored(run, filled), repeated=run.weather
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
    alike = grouped(
        ((share.loaded.version.id, str(share.weather.period)), (key, share))
        for key, shares in reruns.items()
        for share in shares
    )
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


Series = Mapping[str, RunSeries]


@dataclass(frozen=True, slots=True)
class Pair:
    """A new result of a basin and the previous run's, with the days that both hold."""

    run: NewRun
    new: BasinResult
    previous: Run
    before: RunBasin
    days: Period

    @property
    def basin(self) -> str:
        return self.new.basin.basin_id

    @property
    def later(self) -> Series:
        return {one.variable: one for one in self.new.series}

    @property
    def promoted(self) -> bool:
        """Whether the runs are of different versions."""
        return self.previous.version_id != self.run.version_id

    @property
    def shares(self) -> tuple[tuple[RunPart, ...], tuple[RunPart, ...]]:
        """The versions behind the flow of the previous run and of the new one; of one version, those behind both."""
        before, after = run_types.shares_of(self.previous, self.before), run_types.shares_of(self.run, self.new.basin)
        return (before, after) if self.promoted else (in_common(before, after), in_common(after, before))


def in_common(shares: Sequence[RunPart], others: Sequence[RunPart]) -> tuple[RunPart, ...]:
    """Return the shares of versions that others have too, with weights of sum 1."""
    versions = {share.version for share in others}
    total = sum(share.weight for share in shares if share.version in versions)
    return tuple(replace(share, weight=share.weight / total) for share in shares if share.version in versions)


def flow_of(series: Series, shares: Sequence[RunPart], chosen: Sequence[RunPart]) -> Flow | None:
    """Return the mean flow of some of the versions behind a run, (leads,); None where its members were pruned."""
    if len(chosen) == len(shares):
        return run_arrays.mean_of_members(series)
    if "discharge" not in series:
        return None
    members = series["discharge"]
    names = [label.rpartition("-")[0] for label in members.axes["member"]]
    weights = {share.name: share.weight / names.count(share.name) for share in chosen}
    flow = members.values.reshape(len(names), -1, members.values.shape[-1]).mean(axis=1, dtype=np.float64)
    return weighted_mean(flow, np.array([weights.get(name, 0.0) for name in names]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What the reruns of a version with members of its own start from in a basin.

    The states of both T0 are by the data as they are now; `past` and `ahead` are the weather after each, as forecast
    for it.
    """

    loaded: LoadedVersion
    at_previous: State
    at_t0: State
    past: Forcing
    ahead: Forcing
    record: Forcing


def sides_of(
    work: Work, plan: Plan, pairs: Sequence[Pair], earlier: Mapping[str, Series]
) -> dict[str, dict[str, Side]]:
    """Return what reruns start from, by version and basin, where all of it is known."""
    previous, run = pairs[0].previous, pairs[0].run
    inputs = dict(plan.inputs.by_version)
    if pairs[0].promoted:
        known = dict.fromkeys([pair.basin for pair in pairs], plan.days.t0)
        before = read_inputs(work.database, previous.version_id, [*known], known)
        inputs = before.by_version | inputs
    sides = {}
    for version, of_version in inputs.items():
        chosen = [pair for pair in pairs if any(share.version == version for of in pair.shares for share in of)]
        forcings = {pair.basin: of_version.forcings[pair.basin] for pair in chosen if pair.basin in of_version.forcings}
        at_previous, at_t0 = (states_at(work, of_version.loaded, forcings, t0) for t0 in (previous.t0, run.t0))
        past = weather_of(work, of_version, previous, {pair.basin: pair.before for pair in chosen})
        planned = plan.by_version.get(version)
        ahead = (
            weather_of(work, of_version, run, {pair.basin: pair.new.basin for pair in chosen})
            if planned is None
            else planned.weather
        )
        sides[version] = {
            pair.basin: Side(
                loaded=of_version.loaded,
                at_previous=at_previous[pair.basin],
                at_t0=at_t0[pair.basin],
                past=past[pair.basin].only(traces_of(earlier[pair.basin])).forcing,
                ahead=ahead[pair.basin].only(traces_of(pair.later)).forcing,
                record=forcings[pair.basin].forcing,
            )
            for pair in chosen
            if all(pair.basin in known for known in (at_previous, at_t0, past, ahead))
        }
    return sides


def traces_of(series: Series) -> Sequence[str] | None:
    """Return the traces of a run; None for a single weather, or where they were pruned."""
    return series["discharge"].axes.get("trace") if "discharge" in series else None
