"""The reruns between a forecast and the previous one of its basin: their inputs, and the change by cause they give."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydrology.attribution import ORDERS, PARTS, split_change
from hydrology.base.absent import absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import weighted_mean
from models.arrays import Forcing
from operations.forecasting.plan.plans import Plan, read_inputs
from operations.forecasting.reruns import Flow, Share, joined, states_at, weather_of
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedVersion
from records.database.work import Work
from records.runs import run_arrays, run_types
from records.runs.run_arrays import RunSeries
from records.runs.run_parts import RunPart
from records.runs.run_summary import RunChange
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


_MEDIAN = 0.5


@dataclass(frozen=True, slots=True)
class Reruns:
    """The reruns of a basin: the versions behind the previous and the new flow, and the first flow by the former.

    `issued` holds the states that the previous run started from, by version, where they are still stored.
    """

    pair: Pair
    before: Sequence[RunPart]
    after: Sequence[RunPart]
    sides: Mapping[str, Side]
    issued: Mapping[str, State]
    first: Flow

    @property
    def _revised(self) -> bool:
        return any(self.sides[share.version].at_previous.sha256 != share.state_hash for share in self.before)

    @property
    def _gap(self) -> Period:
        return Period(self.pair.previous.t0 + ONE_DAY, self.pair.days.first - ONE_DAY)

    @property
    def _reverse_starts(self) -> Mapping[str, State] | None:
        """The states that the later versions would have had at the previous T0; None where they are unknown."""
        if not self.pair.promoted:
            return self.issued if len(self.issued) == len(self.before) else None
        if self._revised:
            return None
        return {share.version: self.sides[share.version].at_previous for share in self.after}

    def of_both(self) -> Iterator[tuple[Hashable, list[Share]]]:
        """Yield the reruns with the earlier versions, and those in the opposite order with the later ones."""
        yield from self._of_earlier()
        if (starts := self._reverse_starts) is not None:
            yield from self._of_later(starts)

    def _of_earlier(self) -> Iterator[tuple[Hashable, list[Share]]]:
        name, days, whole = self.pair.basin, self.pair.days, Period(self._gap.first, self.pair.days.last)
        of = [(share.weight, self.sides[share.version]) for share in self.before]
        if self._revised:
            yield (name, "data"), [Share(side.loaded, at, side.at_previous, side.past.over(whole)) for at, side in of]
        yield (name, "observed"), [Share(side.loaded, at, side.at_t0, side.past.over(days)) for at, side in of]
        if self.pair.promoted:
            yield (name, "weather"), [Share(side.loaded, at, side.at_t0, side.ahead.over(days)) for at, side in of]

    def _of_later(self, starts: Mapping[str, State]) -> Iterator[tuple[Hashable, list[Share]]]:
        name, days, gap = self.pair.basin, self.pair.days, self._gap
        changed: dict[str, list[Share]] = {"version": [], "version, weather": [], "version, weather, observed": []}
        for share in self.after:
            side = self.sides[share.version]
            ahead = side.ahead.over(days)
            weather = (
                side.past.over(Period(gap.first, days.last)),
                joined(side.past.over(gap), ahead),
                joined(side.record.over(gap), ahead),
            )
            for shares, of_days in zip(changed.values(), weather, strict=True):
                shares.append(Share(side.loaded, share.weight, starts[share.version], of_days))
        if self.pair.promoted:
            yield (name, "version"), changed["version"]
        yield (name, "version, weather"), changed["version, weather"]
        if self._revised:
            yield (name, "version, weather, observed"), changed["version, weather, observed"]

    def result(self, flows: Mapping[Hashable, Flow], earlier: Series) -> tuple[RunChange, RunSeries]:
        """Return the change and its parts; products of one run alone count as a change of the version."""
        pair, later, count, lag = self.pair, self.pair.later, len(self.pair.days), len(self._gap)
        whole, first = run_arrays.mean_of_members(earlier)[lag:][:count], self.first[lag:][:count]
        last = run_arrays.mean_of_members(later)[:count]
        of_common = flow_of(later, run_types.shares_of(pair.run, pair.new.basin), self.after)
        assert of_common is not None  # its members are there: it was computed now
        common = of_common[:count]

        def flow(inputs: str, same: Flow) -> Flow:
            return flows[pair.basin, inputs][-count:] if (pair.basin, inputs) in flows else same

        forward = [first, after_data := flow("data", first), flow("observed", after_data), flow("weather", common)]
        reverse = None
        if self._reverse_starts is not None:
            with_version = flow("version", first)
            with_weather = flow("version, weather", with_version)
            of_reverse = [with_version, with_weather, flow("version, weather, observed", common)]
            reverse = np.stack([whole, *(one + (last - common) for one in of_reverse), last])
        correction = None
        if run_arrays.CALIBRATED in earlier and run_arrays.CALIBRATED in later:
            correction = _median(later)[:count] - last - (_median(earlier)[lag:][:count] - whole)
        of_versions = np.stack([*(one + (whole - first) for one in forward), last])
        parts = split_change(of_versions, reverse, correction)
        axes = {"order": ORDERS, "part": PARTS, "lead": list(range(1, count + 1))}
        return self._change(reverse is None, correction is None), RunSeries(run_arrays.CHANGES, "mm/day", axes, parts)

    def _change(self, one_order: bool, uncalibrated: bool) -> RunChange:
        gap, days, pair = self._gap, self.pair.days, self.pair
        sides = [(share.weight, self.sides[share.version]) for share in self.after]
        products = [
            dict.fromkeys(share.product for share in run_types.shares_of(run, basin))
            for run, basin in ((pair.previous, pair.before), (pair.run, pair.new.basin))
        ]
        return RunChange(
            run=pair.previous.id,
            version=pair.previous.version_id,
            t0=str(pair.previous.t0),
            observed_mm=sum(weight * _rain(side.record, gap) for weight, side in sides),
            expected_mm=sum(weight * _rain(side.past, gap) for weight, side in sides),
            ahead_mm=sum(weight * _rain(side.ahead, days) for weight, side in sides),
            ahead_before_mm=sum(weight * _rain(side.past, days) for weight, side in sides),
            without_flow=absent(Reason.UNCALIBRATED_CHANGE) if uncalibrated else None,
            without_reverse=absent(Reason.NO_REVERSE_ORDER) if one_order else None,
            products_before=tuple(products[0]) if products[0] != products[1] else (),
        )


def _median(series: Series) -> Flow:
    """Return the calibrated median, (leads,)."""
    calibrated = series[run_arrays.CALIBRATED]
    of_level = calibrated.values[list(calibrated.axes["level"]).index(_MEDIAN)]
    return np.asarray(of_level, dtype=np.float64)


def _rain(weather: Forcing, days: Period) -> float:
    """Return the precipitation of days, the mean of the traces, mm. Missing days count as 0."""
    return float(np.nansum(weather.over(days).mass, axis=1, dtype=np.float64).mean())
