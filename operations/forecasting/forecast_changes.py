"""Computes why a forecast differs from the previous one of its basin, when it is issued.

Only then are the networks, the weather and both states at hand, and readers never wait for a computation. The flow of a
combined version is split by the weighted mean of its parts; those that only one run used are left out of the reruns."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from hydrology.attribution import ORDERS, PARTS, split_change
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from models.forcing import Forcing
from operations.forecasting.plans import Plan
from operations.forecasting.reruns import (
    Flow,
    Pair,
    Series,
    Share,
    Side,
    flow_of,
    flow_series,
    joined,
    mean_flows,
    sides_of,
)
from operations.states.advance_states import ONE_DAY
from records.database.work import Work
from records.runs import run_arrays, run_types, runs, states
from records.runs.run_arrays import RunSeries
from records.runs.run_summary import RunChange
from records.runs.run_types import BasinResult, NewRun
from records.runs.run_weather import RunPart
from records.runs.runs import MAX_DAYS_BEFORE
from records.runs.tables import State

log = structlog.get_logger()

Outcome = Absent | tuple[RunChange, RunSeries]
"""The change of a basin and its parts, or why they are unknown."""


def with_changes(work: Work, plan: Plan, run: NewRun, results: Sequence[BasinResult]) -> list[BasinResult]:
    """Return a run's results; each with its change since the previous run, or why it has none."""
    issued = {result.basin.basin_id: result for result in results if result.basin.status == "issued"}
    t0 = plan.days.t0
    earlier = Period(t0 - np.timedelta64(MAX_DAYS_BEFORE, "D"), t0 - ONE_DAY)
    with work.database.reading() as session:
        found = runs.issued_before(session, [*issued], earlier, run.version_id)
    without = absent(Reason.NO_PREVIOUS_RUN, days=MAX_DAYS_BEFORE, t0=str(t0))
    outcomes: dict[str, Outcome] = {**dict.fromkeys(issued, without)}
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for name, (previous, before) in found.items():
        last = min(previous.last_day, plan.days.ahead.last)
        if last <= t0:
            outcomes[name] = absent(Reason.NO_COMMON_DAYS, run=previous.id)
        else:
            pairs[previous.id].append(Pair(run, issued[name], previous, before, Period(t0 + ONE_DAY, last)))
    for previous_id, of_run in pairs.items():
        try:
            outcomes |= dict(_split(work, plan, of_run))
        except Problem as problem:
            log.warning("forecast.change_not_split", run=previous_id, error=str(problem))
            why = absent(Reason.CHANGE_NOT_SPLIT, run=previous_id, why=str(problem))
            outcomes |= dict.fromkeys([pair.basin for pair in of_run], why)
    return [_with(result, outcomes.get(result.basin.basin_id)) for result in results]


def _with(result: BasinResult, outcome: Outcome | None) -> BasinResult:
    if outcome is None:
        return result
    change, series = (outcome, []) if isinstance(outcome, Absent) else (outcome[0], [outcome[1]])
    basin = replace(result.basin, summary=replace(result.basin.summary, change=change))
    return replace(result, basin=basin, series=[*result.series, *series])


def _split(work: Work, plan: Plan, pairs: Sequence[Pair]) -> Iterator[tuple[str, Outcome]]:
    previous, names = pairs[0].previous, [pair.basin for pair in pairs]
    with work.database.reading() as session:
        earlier = flow_series(session, previous.id, names)
    sides = sides_of(work, plan, pairs, earlier)
    reruns = list[Reruns]()
    with work.database.reading() as session:
        versions = {share.version for pair in pairs for share in pair.shares[0]}
        issued = {version: states.of_day(session, version, names, previous.t0) for version in versions}
        for pair in pairs:
            before, after = pair.shares
            reason = None if before and after else absent(Reason.NO_COMMON_PRODUCT)
            if not all(pair.basin in sides[share.version] for share in (*before, *after)):
                reason = absent(Reason.RERUN_INPUTS_LOST)
            flow = flow_of(earlier[pair.basin], run_types.shares_of(previous, pair.before), before)
            if reason is not None or flow is None:
                why = reason or absent(Reason.RERUN_INPUTS_LOST)
                yield pair.basin, absent(Reason.CHANGE_NOT_SPLIT, run=previous.id, why=why)
                continue
            starts = {
                share.version: state
                for share in before
                if (state := issued[share.version].get(pair.basin)) is not None and state.sha256 == share.state_hash
            }
            of_basin = {share.version: sides[share.version][pair.basin] for share in (*before, *after)}
            reruns.append(Reruns(pair, before, after, of_basin, starts, flow))
    flows = mean_flows({key: shares for one in reruns for key, shares in one.of_both()})
    for one in reruns:
        yield one.pair.basin, one.result(flows, earlier[one.pair.basin])


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
