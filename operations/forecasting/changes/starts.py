"""What a forecast and the previous one of its basin are computed again from, to compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydrology.base.calendar import Period
from hydrology.uncertainty.weighted import weighted_mean
from models.arrays import Forcing
from operations.forecasting.plan.plans import Plan, read_inputs
from operations.forecasting.reruns import Flow, states_at, weather_of
from operations.versions.load_networks import LoadedVersion
from records.database.work import Work
from records.runs import run_arrays, run_types
from records.runs.run_arrays import RunSeries
from records.runs.run_parts import RunPart
from records.runs.run_types import BasinResult, NewRun, Run, RunBasin
from records.runs.states import State

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
        """The arrays of the new result."""
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

    Attributes:
        at_previous, at_t0: the states of the T0 of the previous run and of the new one, by the data as they are now.
        past, ahead: the weather after the one and after the other, as forecast for it.
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
