"""Computes why a forecast differs from the previous one of its basin, when it is issued.

Only then are the networks, the weather and both states at hand, and readers never wait for a computation. For each
basin two or three reruns over the days ahead are needed, of flow alone; the other flows of the split are those of the
two runs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from hydrology.attribution.forecast_change import ORDERS, PARTS, split_change
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.errors import Problem
from hydrology.base.reasons import Reason
from jobspec.jobs.forecasting import ForecastParams
from models.arrays import Forcing
from operations.forecasting.forecast_plan import ForecastInputs, Plan, read_inputs
from operations.forecasting.reruns import (
    Flow,
    Start,
    flow_series,
    joined,
    mean_flows,
    state_as_issued,
    states_at,
    weather_of,
)
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs import runs
from records.runs.filled_weather import FilledWeather
from records.runs.run_summary import RunChange
from records.runs.runs import BasinResult, NewRun, Run, RunBasin, RunSeries
from records.runs.states import State
from runtime.clock import Clock

log = structlog.get_logger()

MAX_DAYS_BEFORE = 10
"""A forecast is compared with the newest one from at most this many days before its T0."""
_MEDIAN = 0.5
Series = Mapping[str, RunSeries]
Filled = tuple[NewRun, Mapping[str, Sequence[FilledWeather]]]
"""A run, and its filled weather by basin."""
Outcome = Absent | tuple[RunChange, RunSeries]
"""The change of a basin and its parts, or why they are unknown."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A new result of a basin and the previous run's, with the days that both hold."""

    new: BasinResult
    previous: Run
    before: RunBasin
    days: Period

    @property
    def basin(self) -> str:
        return self.new.basin.basin_id


def with_changes(
    database: Database, clock: Clock, plan: Plan, run: NewRun, results: Sequence[BasinResult]
) -> list[BasinResult]:
    """Return the results of a run to be stored, with the change of each since its previous run, or why it has none.

    Args:
        plan: that the results were computed from.
    """
    issued = {result.basin.basin_id: result for result in results if result.basin.status == "issued"}
    if plan.parts:
        not_yet = absent(Reason.NOT_OF_COMBINED_VERSION)
        return [_with(result, not_yet if result.basin.basin_id in issued else None) for result in results]
    t0 = plan.days.t0
    earlier = Period(t0 - np.timedelta64(MAX_DAYS_BEFORE, "D"), t0 - ONE_DAY)
    with database.reading() as session:
        found = runs.issued_before(session, [*issued], earlier, run.version_id)
    changed = dict.fromkeys(issued, absent(Reason.NO_PREVIOUS_RUN, days=MAX_DAYS_BEFORE, t0=str(t0)))
    outcomes: dict[str, Outcome] = {**changed}
    pairs: dict[str, list[_Pair]] = defaultdict(list)
    for name, (previous, before) in found.items():
        last = min(previous.t0 + np.timedelta64(previous.horizon_days, "D"), plan.days.ahead.last)
        if last <= t0:
            outcomes[name] = absent(Reason.NO_COMMON_DAYS, run=previous.id)
        else:
            pairs[previous.id].append(_Pair(issued[name], previous, before, Period(t0 + ONE_DAY, last)))
    for of_run in pairs.values():
        outcomes |= _of_run(database, clock, plan, run, of_run)
    return [_with(result, outcomes.get(result.basin.basin_id)) for result in results]


def _with(result: BasinResult, outcome: Outcome | None) -> BasinResult:
    if outcome is None:
        return result
    change, series = (outcome, []) if isinstance(outcome, Absent) else (outcome[0], [outcome[1]])
    basin = replace(result.basin, summary=replace(result.basin.summary, change=change))
    return replace(result, basin=basin, series=[*result.series, *series])


def _of_run(database: Database, clock: Clock, plan: Plan, run: NewRun, pairs: Sequence[_Pair]) -> dict[str, Outcome]:
    """Return the changes of basins with the same previous run."""
    previous = pairs[0].previous
    try:
        return dict(_split(database, clock, plan, run, pairs))
    except Problem as problem:
        log.warning("forecast.change_not_split", run=previous.id, error=str(problem))
        return {pair.basin: absent(Reason.CHANGE_NOT_SPLIT, run=previous.id, why=str(problem)) for pair in pairs}


def _split(
    database: Database, clock: Clock, plan: Plan, run: NewRun, pairs: Sequence[_Pair]
) -> Iterator[tuple[str, Outcome]]:
    previous, names = pairs[0].previous, [pair.basin for pair in pairs]
    ahead = {name: plan.weather[name].forcing for name in names}
    used = (previous, {pair.basin: pair.before.summary.filled_weather for pair in pairs})
    new = (run, {name: plan.weather[name].filled for name in names})
    after = before = _side(database, clock, plan.inputs, used, new, ahead)
    if previous.version_id != run.version_id:
        known = dict.fromkeys(names, plan.days.t0)
        inputs = read_inputs(database, ForecastParams(), previous.version_id, names, known)
        before = _side(database, clock, inputs, used, new)
    with database.reading() as session:
        earlier = flow_series(session, previous.id, names)
        issued = {pair.basin: state_as_issued(session, previous, pair.before) for pair in pairs}
    usable = [pair for pair in pairs if before.has(pair.basin) and after.has(pair.basin)]
    reruns = [_Reruns(pair, before, after, plan.forcings[pair.basin].forcing, issued[pair.basin]) for pair in usable]
    flows = mean_flows(before.loaded, {key: start for one in reruns for key, start in one.of_earlier()})
    flows |= mean_flows(after.loaded, {key: start for one in reruns for key, start in one.of_later()})
    for one in reruns:
        yield one.pair.basin, one.result(flows, earlier[one.pair.basin])
    lost = absent(Reason.RERUN_INPUTS_LOST)
    for name in {*names} - {pair.basin for pair in usable}:
        yield name, absent(Reason.CHANGE_NOT_SPLIT, run=previous.id, why=lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """What the reruns of a version start from, by basin.

    Attributes:
        at_previous, at_t0: the states of the T0 of the previous run and of the new one, by the data as they are now.
        past, ahead: the weather after the one and after the other, as forecast for it.
    """

    loaded: LoadedVersion
    at_previous: Mapping[str, State]
    at_t0: Mapping[str, State]
    past: Mapping[str, Forcing]
    ahead: Mapping[str, Forcing]

    def has(self, basin: str) -> bool:
        """Whether all of it is known in a basin."""
        return all(basin in of_all for of_all in (self.at_previous, self.at_t0, self.past, self.ahead))


def _side(
    database: Database,
    clock: Clock,
    inputs: ForecastInputs,
    of_previous: Filled,
    of_new: Filled,
    ahead: Mapping[str, Forcing] | None = None,
) -> _Side:
    """Return the inputs of a version's reruns.

    Args:
        of_previous, of_new: the previous run and the new one.
        ahead: the weather of the new run; None: as this version takes it.
    """
    (previous, names), (run, _) = of_previous, of_new
    forcings = {name: inputs.forcings[name] for name in names if name in inputs.forcings}
    return _Side(
        loaded=inputs.loaded,
        at_previous=states_at(database, clock, inputs.loaded, forcings, previous.t0),
        at_t0=states_at(database, clock, inputs.loaded, forcings, run.t0),
        past=weather_of(database, inputs, *of_previous),
        ahead=weather_of(database, inputs, *of_new) if ahead is None else ahead,
    )


@dataclass(frozen=True, slots=True)
class _Reruns:
    """The reruns of a basin.

    Attributes:
        before, after: of the version of the previous run and of the new one.
        record: the observed weather.
        issued: the state that the previous run started from; None where it is no longer stored.
    """

    pair: _Pair
    before: _Side
    after: _Side
    record: Forcing
    issued: State | None

    @property
    def _promoted(self) -> bool:
        return self.before is not self.after

    @property
    def _revised(self) -> bool:
        return self.before.at_previous[self.pair.basin].sha256 != self.pair.before.state_hash

    @property
    def _gap(self) -> Period:
        """The days from the previous T0 to the new one."""
        return Period(self.pair.previous.t0 + ONE_DAY, self.pair.days.first - ONE_DAY)

    @property
    def _reverse_start(self) -> State | None:
        """The state that the later version would have had at the previous T0; None where it is unknown."""
        if not self._promoted:
            return self.issued
        return None if self._revised else self.after.at_previous[self.pair.basin]

    def of_earlier(self) -> Iterator[tuple[Hashable, Start]]:
        """Yield the reruns with the earlier version."""
        name, days, side = self.pair.basin, self.pair.days, self.before
        if self._revised:
            yield (name, "data"), (side.at_previous[name], side.past[name].over(Period(self._gap.first, days.last)))
        yield (name, "observed"), (side.at_t0[name], side.past[name].over(days))
        if self._promoted:
            yield (name, "weather"), (side.at_t0[name], side.ahead[name].over(days))

    def of_later(self) -> Iterator[tuple[Hashable, Start]]:
        """Yield the reruns with the later version, from the state of the previous T0: in the opposite order."""
        name, days, side, start = self.pair.basin, self.pair.days, self.after, self._reverse_start
        if start is None:
            return
        if self._promoted:
            yield (name, "version"), (start, side.past[name].over(Period(self._gap.first, days.last)))
        ahead = side.ahead[name].over(days)
        yield (name, "version, weather"), (start, joined(side.past[name].over(self._gap), ahead))
        if self._revised:
            yield (name, "version, weather, observed"), (start, joined(self.record.over(self._gap), ahead))

    def result(self, flows: Mapping[Hashable, Flow], earlier: Series) -> tuple[RunChange, RunSeries]:
        """Return the change and its parts.

        Args:
            flows: of the reruns.
            earlier: the flow of the previous run.
        """
        name, count, lag = self.pair.basin, len(self.pair.days), len(self._gap)
        later = {one.variable: one for one in self.pair.new.series}
        first, last = runs.mean_of_members(earlier)[lag:][:count], runs.mean_of_members(later)[:count]

        def flow(inputs: str, same: Flow) -> Flow:
            return flows[name, inputs][-count:] if (name, inputs) in flows else same

        forward = [first, after_data := flow("data", first), flow("observed", after_data), flow("weather", last), last]
        reverse = None
        if self._reverse_start is not None:
            with_version = flow("version", first)
            combined = flow("version, weather", with_version)
            reverse = np.stack([first, with_version, combined, flow("version, weather, observed", last), last])
        correction = None
        if runs.CALIBRATED in earlier and runs.CALIBRATED in later:
            correction = _median(later)[:count] - last - (_median(earlier)[lag:][:count] - first)
        parts = split_change(np.stack(forward), reverse, correction)
        axes = {"order": ORDERS, "part": PARTS, "lead": list(range(1, count + 1))}
        return self._change(reverse is None, correction is None), RunSeries(runs.CHANGES, "mm/day", axes, parts)

    def _change(self, one_order: bool, uncalibrated: bool) -> RunChange:
        name, gap, days, previous = self.pair.basin, self._gap, self.pair.days, self.pair.previous
        return RunChange(
            run=previous.id,
            version=previous.version_id,
            t0=str(previous.t0),
            observed_mm=_rain(self.record, gap),
            expected_mm=_rain(self.after.past[name], gap),
            ahead_mm=_rain(self.after.ahead[name], days),
            ahead_before_mm=_rain(self.after.past[name], days),
            without_flow=absent(Reason.UNCALIBRATED_CHANGE) if uncalibrated else None,
            without_reverse=absent(Reason.NO_REVERSE_ORDER) if one_order else None,
        )


def _median(series: Series) -> Flow:
    """Return the calibrated median, (leads,)."""
    calibrated = series[runs.CALIBRATED]
    of_level = calibrated.values[list(calibrated.axes["level"]).index(_MEDIAN)]
    return np.asarray(of_level, dtype=np.float64)


def _rain(weather: Forcing, days: Period) -> float:
    """Return the precipitation of days, the mean of the traces, mm. Missing days count as 0."""
    return float(np.nansum(weather.over(days).mass, axis=1, dtype=np.float64).mean())
