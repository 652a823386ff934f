"""The inputs for the forecast of one basin by a part, and what is computed from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent
from hydrology.base.products import Credit
from hydrology.snow.against_normal import SnowEstimate
from hydrology.uncertainty.weighted import of_traces, weighted_mean, weighted_quantiles
from hydrology.water.ledger import ASSIMILATION, INCREMENT
from jobspec.changes import UNCHANGED, Changes
from models.arrays import Array
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.days import RunDays
from operations.forecasting.simulate import FlowResult
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import Advanced
from operations.states.changed_states import with_increment
from operations.versions.load_networks import LoadedVersion, member_weights
from records.basins.ownership import Basin
from records.runs.run_summary import ReferenceSnow
from records.runs.run_weather import RunBridge, RunSubset
from records.runs.states import State
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
