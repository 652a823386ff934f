"""What the parts of a version start from in a basin, what they compute, and all of them together.

The members of all parts stand side by side, each with the water and weather of its own part; the traces are those that
all parts have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent, known
from hydrology.base.products import Credit
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import SnowEstimate
from hydrology.uncertainty.weighted import mean_by_shares, of_traces, weighted_mean, weighted_quantiles
from hydrology.water.ledger import ASSIMILATION, INCREMENT
from jobspec.changes import Increment
from models.forcing import Array
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.plans import Plan
from operations.forecasting.simulate import FlowResult, StorageResult
from operations.forecasting.weather_ahead import RunDays, WeatherAhead
from operations.states.changed_states import with_increment
from operations.versions.load_networks import LoadedVersion, member_weights
from records.basins.ownership import Basin
from records.runs.run_summary import ReferenceSnow
from records.runs.run_weather import RunBridge, RunSubset, hash_of_parts
from records.runs.tables import State
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart

Numbers = npt.NDArray[Any]
Amounts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WaterAtT0:
    """The state of T0, archived and as a what-if run changes it; `booked`: mm by ledger term, (M,) each."""

    archived: State
    state: State
    booked: Mapping[str, Amounts]


def water_at_t0(
    loaded: LoadedVersion,
    archived: State,
    assimilated: State | Absent | None,
    snow: SnowMapping | Absent,
    increment: Increment | None,
) -> WaterAtT0 | Absent:
    """Return the initial state of the days ahead, or why it cannot be changed as requested."""
    state, booked = archived, {}
    if assimilated is not None:
        if isinstance(assimilated, Absent):
            return assimilated
        state = assimilated
        booked[ASSIMILATION] = stored(state) - stored(archived)
    if increment is not None:
        with_more = with_increment(loaded, state, snow, increment)
        if isinstance(with_more, Absent):
            return with_more
        state = with_more
        booked[INCREMENT] = np.full(len(loaded.labels), increment.mm)
    return WaterAtT0(archived, state, booked)


def stored(state: State) -> Amounts:
    """Return the storage of each member, (M,) in mm."""
    return np.asarray(np.asarray(state.arrays["c"]).sum(axis=-1, dtype=np.float64))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedPart:
    """A part of a version in a basin at T0, with its share there and its inputs.

    Attributes:
        forcing: until T0 at least.
        parent: the newest state stored before T0; None where it started from the empty store.
        credit: the credit for its weather until T0, where a feed supplied some.
        snow_normal: the normal snow at T0, mm.
        cells_by_age: the water in the cells at T0 by its age (`operations.forecasting.replayed_past`).
        of_states: the mean and variance of the discharge over perturbed states, (2, members, traces, days), where
            requested.
        weather_fault: why a newer weather forecast of its model was not taken; None where none was refused.
    """

    part: VersionPart
    loaded: LoadedVersion
    basin: Basin
    forcing: BasinForcing
    weather: WeatherAhead
    parent: State | None
    at_t0: WaterAtT0
    snow: SnowMapping | Absent
    credit: Credit | None
    snow_normal: float | Absent
    cells_by_age: Array | Absent
    bridges: Sequence[RunBridge]
    of_states: Amounts | None
    weather_fault: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPart(StartedPart):
    """What a part computed of one basin: M members, R traces, D days.

    The discharge by the age of its water is (M, R, D, ages) in mm/day; None where it is not computed, as of the peaks.
    """

    flow: FlowResult
    by_age: Array | None
    peaks_by_rain: Array | None

    def only(self, common: Sequence[str] | None) -> "SimulatedPart":
        """Return it with some of its traces; None for a single weather."""
        traces = self.weather.traces
        if common is None or traces is None or list(traces) == list(common):
            return self
        at, water = [traces.index(trace) for trace in common], self.flow.water
        cut = water and StorageResult(*(_at(getattr(water, name), at) for name in _OF_WATER))
        return replace(
            self,
            weather=self.weather.only(common),
            of_states=None if self.of_states is None else self.of_states[:, :, at],
            flow=FlowResult(self.flow.discharge[:, at], cut),
            by_age=_at(self.by_age, at),
        )


_OF_WATER = [field.name for field in fields(StorageResult)]
Started = TypeVar("Started", bound=StartedPart)


def _at(values: Any, traces: Sequence[int]) -> Any:
    return None if values is None else values[:, traces]


def of_largest_weight(parts: Sequence[Started]) -> Started:
    """Return the part with the largest weight in its basin, where weights may differ from those of the version."""
    return max(parts, key=lambda one: one.part.weight)


def recent_flow(parts: Sequence[StartedPart]) -> npt.NDArray[np.float32] | None:
    """Return the weighted mean of the flow of the last days that all parts have, mm/day; None where one has none."""
    flows = [one.at_t0.archived.recent_flow for one in parts]
    there = [flow for flow in flows if flow is not None]
    if len(there) < len(flows):
        return None
    count = min(len(flow) for flow in there)
    last = [flow[len(flow) - count :] for flow in there]
    return mean_by_shares(last, [one.part.weight for one in parts]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class BasinReferences:
    """What the flow and the snow of a basin are compared with.

    Attributes:
        normal: the normal flow of the days ahead, (days,) in mm/day.
        snow: the reference snow of T0.
        snow17: the snow of T0 by Snow-17, or why it is unknown; None where it is not requested.
    """

    normal: Amounts | Absent
    snow: ReferenceSnow | Absent
    snow17: SnowEstimate | Absent | None


def combine_parts(
    plan: Plan,
    parts: Sequence[SimulatedPart],
    references: BasinReferences,
    calibration: Calibration | Absent,
    subset: RunSubset | None,
) -> "SimulatedBasin | Absent":
    """Combine a basin's parts with the traces that all have, or return why they have none."""
    labels = [one.weather.traces for one in parts if one.weather.traces is not None]
    common = None
    if len(labels) == len(parts):  # else there is a single weather
        common = [trace for trace in labels[0] if all(trace in of_part for of_part in labels[1:])]
        if not common:
            return absent(Reason.NO_COMMON_TRACE, basin=parts[0].basin.id)
    return SimulatedBasin(plan, tuple(one.only(common) for one in parts), references, calibration, subset)


@dataclass(frozen=True)
class SimulatedBasin:
    """What the parts of a version computed of one basin, with their members side by side.

    Its parts are those that took part, all with the same traces. `subset` is what is missing of the version here; None
    where nothing is.
    """

    plan: Plan
    parts: tuple[SimulatedPart, ...]
    references: BasinReferences
    calibration: Calibration | Absent
    subset: RunSubset | None

    @property
    def loaded(self) -> LoadedVersion:
        return self.plan.inputs.loaded

    @property
    def days(self) -> RunDays:
        return self.plan.days

    @property
    def first(self) -> SimulatedPart:
        """The first part; what all have alike, such as the basin, is taken from it."""
        return self.parts[0]

    @cached_property
    def flow(self) -> FlowResult:
        """The discharge of all members, and their water where all conserve it."""
        discharge = joined([one.flow.discharge for one in self.parts])
        waters = [one.flow.water for one in self.parts if one.flow.water is not None]
        if len(waters) < len(self.parts):
            return FlowResult(discharge, None)
        return FlowResult(
            discharge, StorageResult(*(joined([getattr(one, name) for one in waters]) for name in _OF_WATER))
        )

    @cached_property
    def at_t0(self) -> WaterAtT0:
        return WaterAtT0(
            archived=self._state([one.at_t0.archived for one in self.parts]),
            state=self._state([one.at_t0.state for one in self.parts]),
            booked={name: joined([one.at_t0.booked[name] for one in self.parts]) for name in self.first.at_t0.booked},
        )

    def _state(self, states: Sequence[State]) -> State:
        """Return the states of all parts as one, which is never stored. Cells that a part does not have are empty."""
        conserving = all(state.sums is not None for state in states)
        sums = [state.sums for state in states if state.sums is not None]
        named = zip(self.parts, states, strict=True)
        return replace(
            states[0],
            version_id=self.loaded.version.id,
            product=self.loaded.version.product,
            arrays={"c": _cells([np.asarray(state.arrays["c"]) for state in states])} if conserving else {},
            sums={name: np.concatenate([of[name] for of in sums]) for name in sums[0]} if conserving else None,
            recent_flow=recent_flow(self.parts),
            sha256=hash_of_parts((one.part.name, state.sha256) for one, state in named),
            spin_up_days=min(state.spin_up_days for state in states),
        )

    @cached_property
    def snow(self) -> SnowMapping | Absent:
        """All members' snow cells; where their joint skill is unknown, with the largest part's."""
        found: dict[str, list[int]] = {}
        for one in self.parts:
            if isinstance(one.snow, Absent):
                return one.snow
            found |= {one.part.label(member): [*cells] for member, cells in one.snow.cells.items()}
        judged, whole = of_largest_weight(self.parts).snow, self.plan.inputs.snow[self.first.basin.id]
        assert isinstance(judged, SnowMapping)
        skill = judged.skill
        if isinstance(whole, SnowMapping) and {label: [*cells] for label, cells in whole.cells.items()} == found:
            skill = known(whole.skill) or skill
        return replace(judged, cells=found, skill=skill)

    @property
    def snow_normal(self) -> float | Absent:
        total = 0.0
        for one in self.parts:
            if isinstance(one.snow_normal, Absent):
                return one.snow_normal
            total += one.part.weight * one.snow_normal
        return total / sum(one.part.weight for one in self.parts)

    @property
    def rain(self) -> Array:
        """Precipitation by trace, (R, D): the mean over members, each with its product's."""
        return self.mean(self.rain_of_members).astype(np.float32)

    @property
    def rain_of_members(self) -> Array:
        """The precipitation that each member gets, (M, R, D)."""
        rains = [np.broadcast_to(one.weather.forcing.mass, one.flow.discharge.shape) for one in self.parts]
        return np.concatenate(rains)

    @property
    def weights(self) -> Amounts | None:
        """The weight of each member, (M,), of sum 1; None where all are equal."""
        return member_weights([one.part for one in self.parts])

    def mean(self, values: Numbers) -> Amounts:
        """Return the mean over members, the first axis."""
        return weighted_mean(values, self.weights)

    def mean_of_traces(self, values: Numbers) -> Amounts:
        """Return the mean over members and traces, the first two axes."""
        if self.weights is None:
            return weighted_mean(flattened(values), None)
        return np.asarray(self.mean(values).mean(axis=0))

    def quantiles(self, values: Numbers, levels: float | Sequence[float]) -> Amounts:
        """Return quantiles over members and traces, the first two axes."""
        return weighted_quantiles(flattened(values), levels, self.weights_of_rows)

    @property
    def weights_of_rows(self) -> Amounts | None:
        """The weight of each member with each trace, (M x R,); None where all are equal."""
        return of_traces(self.weights, self.flow.discharge.shape[1])

    @property
    def traces(self) -> tuple[str, ...] | None:
        """The labels of the traces; None for a single weather."""
        return self.first.weather.traces

    @property
    def labels(self) -> Sequence[str]:
        return [label for one in self.parts for label in one.part.labels]

    @property
    def leads(self) -> list[int]:
        """Days since T0."""
        return list(range(1, self.days.horizon + 1))


def flattened(values: Numbers) -> Numbers:
    """Merge the axes of members and traces of values (M, R, ...)."""
    return values.reshape(-1, *values.shape[2:])


def joined(arrays: Sequence[Numbers | None], axis: int = 0) -> Any:
    """Return the arrays of all members; None where a part has none."""
    there = [array for array in arrays if array is not None]
    if len(there) < len(arrays):
        return None
    return there[0] if len(there) == 1 else np.concatenate(there, axis=axis)


def _cells(of_parts: Sequence[Numbers]) -> Numbers:
    most = max(cells.shape[-1] for cells in of_parts)
    return np.concatenate([np.pad(cells, ((0, 0), (0, most - cells.shape[-1]))) for cells in of_parts])
