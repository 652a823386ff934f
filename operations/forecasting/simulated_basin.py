"""The inputs of a basin's forecast, and what is computed from them: of each part, and of all parts together.

The members of all parts stand side by side, each with the water and weather of its own part; the traces are those that
all parts have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent, known
from hydrology.base.products import Credit, credit_of_all
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import SnowEstimate
from hydrology.uncertainty.weighted import mean_by_shares, of_traces, weighted_mean, weighted_quantiles
from hydrology.water.ledger import ASSIMILATION, INCREMENT
from jobspec.changes import UNCHANGED, Changes
from models.arrays import Array
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.simulate import FlowResult, StorageResult
from operations.forecasting.weather_ahead import RunDays, WeatherAhead
from operations.states.advance_states import Advanced
from operations.states.changed_states import with_increment
from operations.versions.load_networks import LoadedVersion, member_weights
from records.basins.ownership import Basin
from records.runs.run_summary import ReferenceSnow
from records.runs.run_weather import RunBridge, RunSubset, hash_of_parts
from records.runs.tables import State
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart

Normal = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinInputs:
    """The inputs of a part for the forecast of one basin.

    Attributes:
        forcing: until T0 at least.
        snow17: the snow of T0 by Snow-17, or why it is unknown; None where it is not requested.
        credit: the credit for its weather until T0, where a feed supplied some.
        weather_fault: why a newer weather forecast of its model was not taken; None where none was refused.
        normal: the normal flow of the days ahead, (days,) in mm/day, or why it is unknown.
        snow_normal: the normal snow at T0, mm, or why it is unknown.
        cells_by_age: the water in the cells at T0 by its age (`operations.forecasting.replayed_past`), or why it is
            unknown.
        of_states: the mean and variance of the discharge over perturbed states, (2, members, traces, days), where
            requested.
        changes: the changes of a what-if run; the weather is changed already, the state is not.
        assimilated: the state of T0 after assimilation, or why it failed; None where it is not requested.
    """

    basin: Basin
    forcing: BasinForcing
    weather: WeatherAhead
    advanced: Advanced
    snow: SnowMapping | Absent
    snow_reference: ReferenceSnow | Absent
    snow17: SnowEstimate | Absent | None
    credit: Credit | None
    normal: Normal | Absent
    snow_normal: float | Absent
    cells_by_age: Array | Absent
    bridges: tuple[RunBridge, ...] = ()
    of_states: npt.NDArray[np.float64] | None = None
    changes: Changes = UNCHANGED
    assimilated: State | Absent | None = None
    weather_fault: str | None = None


@dataclass(frozen=True, slots=True)
class WaterAtT0:
    """The state of T0, archived and as a what-if run changes it; `booked`: mm by ledger term, (M,) each."""

    archived: State
    state: State
    booked: Mapping[str, npt.NDArray[np.float64]]


def water_at_t0(loaded: LoadedVersion, inputs: BasinInputs) -> WaterAtT0 | Absent:
    """Return the initial state of the days ahead, or why it cannot be changed as requested."""
    archived, increment = inputs.advanced.state, inputs.changes.increment
    assert archived is not None
    state, booked = archived, {}
    if inputs.assimilated is not None:
        if isinstance(inputs.assimilated, Absent):
            return inputs.assimilated
        state = inputs.assimilated
        booked[ASSIMILATION] = stored(state) - stored(archived)
    if increment is not None:
        with_more = with_increment(loaded, state, inputs.snow, increment)
        if isinstance(with_more, Absent):
            return with_more
        state = with_more
        booked[INCREMENT] = np.full(len(loaded.labels), increment.mm)
    return WaterAtT0(archived, state, booked)


def stored(state: State) -> npt.NDArray[np.float64]:
    """Return the storage of each member, (M,) in mm."""
    stored: npt.NDArray[np.float64] = np.asarray(state.arrays["c"]).sum(axis=-1, dtype=np.float64)
    return stored


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedPart:
    """A part of a version in a basin at T0, with its share there."""

    part: VersionPart
    loaded: LoadedVersion
    inputs: BasinInputs
    at_t0: WaterAtT0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedPart(StartedPart):
    """What a part computed of one basin: M members, R traces, D days.

    The discharge by the age of its water is (M, R, D, ages) in mm/day; None where it is not computed, as of the peaks.
    """

    flow: FlowResult
    by_age: Array | None
    peaks_by_rain: Array | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedBasin:
    """What the parts of a version computed of one basin, with their members side by side.

    Its parts are those that took part, all with the same traces. `subset` is what is missing of the version here; None
    where nothing is.
    """

    loaded: LoadedVersion
    parts: tuple[SimulatedPart, ...]
    inputs: BasinInputs
    at_t0: WaterAtT0
    days: RunDays
    flow: FlowResult
    by_age: Array | None
    peaks_by_rain: Array | None
    calibration: Calibration | Absent
    subset: RunSubset | None

    @property
    def rain(self) -> Array:
        """Precipitation by trace, (R, D): the mean over members, each with its product's."""
        return self.mean(self.rain_of_members).astype(np.float32)

    @property
    def rain_of_members(self) -> Array:
        """The precipitation that each member gets, (M, R, D)."""
        rains = [np.broadcast_to(one.inputs.weather.forcing.mass, one.flow.discharge.shape) for one in self.parts]
        return np.concatenate(rains)

    @property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """The weight of each member, (M,), of sum 1; None where all are equal."""
        return member_weights([one.part for one in self.parts])

    def mean(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the mean over members, the first axis."""
        return weighted_mean(values, self.weights)

    def mean_of_traces(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the mean over members and traces, the first two axes."""
        if self.weights is None:
            return weighted_mean(flattened(values), None)
        return np.asarray(self.mean(values).mean(axis=0))

    def quantiles(self, values: npt.NDArray[Any], levels: float | Sequence[float]) -> npt.NDArray[np.float64]:
        """Return quantiles over members and traces, the first two axes."""
        return weighted_quantiles(flattened(values), levels, self.weights_of_rows)

    def median(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the median over members and traces, the first two axes."""
        return np.median(flattened(values), axis=0) if self.weights is None else self.quantiles(values, 0.5)

    @property
    def weights_of_rows(self) -> npt.NDArray[np.float64] | None:
        """The weight of each member with each trace, (M x R,); None where all are equal."""
        return of_traces(self.weights, self.flow.discharge.shape[1])

    @property
    def traces(self) -> tuple[str, ...] | None:
        """The labels of the traces; None for a single weather."""
        return self.inputs.weather.traces

    @property
    def labels(self) -> Sequence[str]:
        return [label for one in self.parts for label in one.part.labels]

    @property
    def leads(self) -> list[int]:
        """Days since T0."""
        return list(range(1, self.days.horizon + 1))


def flattened(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Merge the axes of members and traces of values (M, R, ...)."""
    return values.reshape(-1, *values.shape[2:])


Numbers = npt.NDArray[Any]
Started = TypeVar("Started", bound=StartedPart)


def combine_parts(
    loaded: LoadedVersion,
    parts: Sequence[SimulatedPart],
    days: RunDays,
    *,
    calibration: Calibration | Absent,
    subset: RunSubset | None,
    snow: SnowMapping | Absent,
) -> SimulatedBasin | Absent:
    """Combine a basin's parts, or return why they do not fit together."""
    common = _common_traces(parts)
    if common is not None and not common:
        return absent(Reason.NO_COMMON_TRACE, basin=parts[0].inputs.basin.id)
    same = [_with_traces(one, common) for one in parts]
    inputs = [one.inputs for one in same]
    return SimulatedBasin(
        loaded=loaded,
        parts=tuple(same),
        inputs=replace(
            inputs[0],
            snow=_snow(same, snow),
            snow17=of_largest_weight(same).inputs.snow17,
            snow_normal=_snow_normal(same),
            credit=credit_of_all(one.credit for one in inputs),
            cells_by_age=_cells_by_age(inputs),
            of_states=_joined([one.of_states for one in inputs], axis=1),
            bridges=tuple({of.sha256: of for one in inputs for of in one.bridges}.values()),
        ),
        at_t0=_water(loaded, same),
        days=days,
        flow=_flow(same),
        by_age=_joined([one.by_age for one in same]),
        peaks_by_rain=_joined([one.peaks_by_rain for one in same], axis=-1),
        calibration=calibration,
        subset=subset,
    )


def _cells_by_age(of_parts: Sequence[BasinInputs]) -> Array | Absent:
    """Return why a part has no age of its water; where all have, that of the first, of which nothing is read."""
    each = [one.cells_by_age for one in of_parts]
    return next((one for one in each if isinstance(one, Absent)), each[0])


def of_largest_weight(parts: Sequence[Started]) -> Started:
    """Return the part with the largest weight in its basin, where weights may differ from those of the version."""
    return max(parts, key=lambda one: one.part.weight)


def _common_traces(parts: Sequence[SimulatedPart]) -> list[str] | None:
    """Return the traces that all parts have; None for a single weather."""
    labels = [one.inputs.weather.traces for one in parts]
    if any(of_part is None for of_part in labels):
        return None
    first, *others = [of_part for of_part in labels if of_part is not None]
    return [trace for trace in first if all(trace in of_part for of_part in others)]


def _with_traces(one: SimulatedPart, common: Sequence[str] | None) -> SimulatedPart:
    traces = one.inputs.weather.traces
    if common is None or traces is None or list(traces) == list(common):
        return one
    at, water = [traces.index(trace) for trace in common], one.flow.water
    cut = None
    if water is not None:
        cut = StorageResult(
            loss=water.loss[:, at],
            storage=water.storage[:, at],
            at_end=water.at_end[:, at],
            lowest=water.lowest[:, at],
            snow=None if water.snow is None else water.snow[:, at],
            discharge_by_origin=water.discharge_by_origin[:, at],
        )
    of_states = one.inputs.of_states
    return replace(
        one,
        inputs=replace(
            one.inputs,
            weather=one.inputs.weather.only(common),
            of_states=None if of_states is None else of_states[:, :, at],
        ),
        flow=FlowResult(one.flow.discharge[:, at], cut),
        by_age=None if one.by_age is None else one.by_age[:, at],
    )


def _joined(arrays: Sequence[Numbers | None], axis: int = 0) -> Any:
    """Return the arrays of all members; None where a part has none."""
    there = [array for array in arrays if array is not None]
    if len(there) < len(arrays):
        return None
    return there[0] if len(there) == 1 else np.concatenate(there, axis=axis)


def _flow(parts: Sequence[SimulatedPart]) -> FlowResult:
    discharge = _joined([one.flow.discharge for one in parts])
    waters = [one.flow.water for one in parts if one.flow.water is not None]
    if len(waters) < len(parts):
        return FlowResult(discharge, None)
    names = ("loss", "storage", "at_end", "lowest", "snow", "discharge_by_origin")
    return FlowResult(
        discharge, StorageResult(**{name: _joined([getattr(one, name) for one in waters]) for name in names})
    )


def _water(loaded: LoadedVersion, parts: Sequence[SimulatedPart]) -> WaterAtT0:
    terms = parts[0].at_t0.booked
    return WaterAtT0(
        archived=_state(loaded, parts, [one.at_t0.archived for one in parts]),
        state=_state(loaded, parts, [one.at_t0.state for one in parts]),
        booked={name: _joined([one.at_t0.booked[name] for one in parts]) for name in terms},
    )


def _state(loaded: LoadedVersion, parts: Sequence[SimulatedPart], states: Sequence[State]) -> State:
    """Return the states of all parts as one, which is never stored. Cells that a part does not have are empty."""
    conserving = all(state.sums is not None for state in states)
    sums = [state.sums for state in states if state.sums is not None]
    return replace(
        states[0],
        version_id=loaded.version.id,
        product=loaded.version.product,
        arrays={"c": _cells([np.asarray(state.arrays["c"]) for state in states])} if conserving else {},
        sums={name: np.concatenate([of[name] for of in sums]) for name in sums[0]} if conserving else None,
        recent_flow=recent_flow(parts),
        sha256=hash_of_parts((one.part.name, state.sha256) for one, state in zip(parts, states, strict=True)),
        spin_up_days=min(state.spin_up_days for state in states),
    )


def _cells(of_parts: Sequence[Numbers]) -> Numbers:
    most = max(cells.shape[-1] for cells in of_parts)
    return np.concatenate([np.pad(cells, ((0, 0), (0, most - cells.shape[-1]))) for cells in of_parts])


def recent_flow(parts: Sequence[StartedPart]) -> npt.NDArray[np.float32] | None:
    """Return the weighted mean of the flow of the last days that all parts have, mm/day; None where one has none."""
    flows = [one.at_t0.archived.recent_flow for one in parts]
    there = [flow for flow in flows if flow is not None]
    if len(there) < len(flows):
        return None
    count = min(len(flow) for flow in there)
    last = [flow[len(flow) - count :] for flow in there]
    return mean_by_shares(last, [one.part.weight for one in parts]).astype(np.float32)


def _snow(parts: Sequence[SimulatedPart], whole: SnowMapping | Absent) -> SnowMapping | Absent:
    """Return all members' snow cells; where their joint skill is unknown, with the largest part's."""
    found: dict[str, list[int]] = {}
    for one in parts:
        of_part = one.inputs.snow
        if isinstance(of_part, Absent):
            return of_part
        found |= {one.part.label(member): [*cells] for member, cells in of_part.cells.items()}
    judged = of_largest_weight(parts).inputs.snow
    assert isinstance(judged, SnowMapping)
    skill = judged.skill
    if isinstance(whole, SnowMapping) and {label: [*cells] for label, cells in whole.cells.items()} == found:
        skill = known(whole.skill) or skill
    return replace(judged, cells=found, skill=skill)


def _snow_normal(parts: Sequence[SimulatedPart]) -> float | Absent:
    total = 0.0
    for one in parts:
        of_part = one.inputs.snow_normal
        if isinstance(of_part, Absent):
            return of_part
        total += one.part.weight * of_part
    return total / sum(one.part.weight for one in parts)
