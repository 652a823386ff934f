"""Runs the networks over the days after T0, and the response of flow to rain of several sizes.

Each member continues from a basin's state with every trace. Basins and traces are run together in groups, one member
after the other, and only sums over cells are held, so that the memory needed does not grow with the number of basins.
The result of a basin does not depend on other basins, nor that of a trace on other traces.

For the response to rain no other rain falls; all other weather is the mean of the run's traces. The rain falls evenly
over its window.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.extremes.rain_margin import RAIN_MM, RESPONSE_DAYS, START_LEADS, WINDOW_DAYS
from models.ensemble import GROUP, ArrayMap, Ensemble
from models.forcing import Array, Forcing
from operations.basin_data.dataset import stacked
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import member_states
from operations.versions.load_networks import LoadedVersion
from records.runs.tables import State
from records.simulations.snow_cells import SnowMapping

Discharge = npt.NDArray[np.float64]
SAMPLES = 8 * GROUP  # traces that are run together
SNOW, OTHER, LATER = ORIGINS = range(3)  # the tags of water: of snow cells at T0, of other cells then, yet to fall


@dataclass(frozen=True, slots=True)
class InitialState:
    """The initial state of a basin for the days ahead; cells' water by age is (members, cells, ages) in mm."""

    state: State
    weather: WeatherAhead
    snow: SnowMapping | None
    cells_by_age: Array | None = None

    @property
    def traces(self) -> int:
        """Number of traces; 1 for the observed weather."""
        return len(self.weather.forcing.ids)


@dataclass(frozen=True, slots=True)
class StorageResult:
    """Water in one basin after T0: M members, R traces, D days.

    Attributes:
        loss: (M, R, D), mm/day.
        storage: (M, R, D), of all cells at the end of each day, mm.
        at_end: (M, R), the last of it, summed in float64.
        lowest: (M, R), of any cell on any day, mm.
        snow: (M, R, D), of the cells that read as snow, mm; None where there are none.
        discharge_by_origin: (M, R, D, 3), mm/day: water of the cells that read as snow at T0, of other cells then, and
            water that fell later. They add up to the discharge.
    """

    loss: Array
    storage: Array
    at_end: npt.NDArray[np.float64]
    lowest: Array
    snow: Array | None
    discharge_by_origin: Array


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What the members compute of one basin. Discharge (M, R, D) in mm/day, and water where they conserve it."""

    discharge: Array
    water: StorageResult | None

    @property
    def finite(self) -> bool:
        arrays = [self.discharge] if self.water is None else [self.discharge, self.water.loss, self.water.storage]
        return all(bool(np.isfinite(values).all()) for values in arrays)


def flows(loaded: LoadedVersion, starts: Sequence[InitialState]) -> Iterator[FlowResult]:
    """Run a version over the days after T0. Yield the result of each basin, in their order."""
    for chunk in _chunks(starts):
        yield from _together(loaded, chunk)


def mean_discharge(loaded: LoadedVersion, starts: Sequence[InitialState]) -> Iterator[Discharge]:
    """Run a version over the days after T0. Yield each basin's mean of members, (R, D) in mm/day."""
    labels = loaded.labels
    for chunk in _chunks(starts):
        forcing = stacked([start.weather.forcing for start in chunk])
        total, states = np.zeros(forcing.mass.shape), _fanned_out(_states(chunk, labels), chunk)
        for outputs, _ in loaded.ensemble.each(forcing, states, ("discharge",)):
            total += outputs["discharge"]
        yield from (total[place] / len(labels) for place in _rows(chunk))


def discharge_by_age(loaded: LoadedVersion, starts: Sequence[InitialState]) -> Iterator[Array]:
    """Yield each basin's discharge by age, (M, R, D, ages) in mm/day; rain and snow ahead have the last age."""
    for chunk in _chunks(starts):
        forcing, shown = stacked([start.weather.forcing for start in chunk]), [start.cells_by_age for start in chunk]
        states = [
            state | {"tags": np.stack([cells[member] for cells in shown if cells is not None])}
            for member, state in enumerate(_states(chunk, loaded.labels))
        ]
        tag = np.full(forcing.mass.shape[1], states[0]["tags"].shape[-1] - 1)
        each = loaded.ensemble.each(forcing, _fanned_out(states, chunk), ("discharge_by_tag",), tag)
        by_age = np.stack([outputs["discharge_by_tag"] for outputs, _ in each]).astype(np.float32)
        yield from (by_age[:, place] for place in _rows(chunk))


def _chunks(starts: Sequence[InitialState]) -> Iterator[list[InitialState]]:
    chunk: list[InitialState] = []
    for start in starts:
        if chunk and sum(other.traces for other in chunk) + start.traces > SAMPLES:
            yield chunk
            chunk = []
        chunk.append(start)
    if chunk:
        yield chunk


def _rows(starts: Sequence[InitialState]) -> list[slice]:
    counts = [start.traces for start in starts]
    return [slice(end - count, end) for end, count in zip(np.cumsum(counts).tolist(), counts, strict=True)]


def _together(loaded: LoadedVersion, starts: Sequence[InitialState]) -> Iterator[FlowResult]:
    ensemble, labels, rows = loaded.ensemble, loaded.labels, _rows(starts)
    forcing = stacked([start.weather.forcing for start in starts])
    shape = (len(labels), *forcing.mass.shape)
    discharge, loss, storage = (np.empty(shape, np.float32) for _ in range(3))
    at_end, lowest = np.empty(shape[:2]), np.empty(shape[:2], np.float32)
    snow = [
        None if start.snow is None else np.empty((len(labels), start.traces, shape[2]), np.float32) for start in starts
    ]
    by_origin = np.empty((*shape, len(ORIGINS)), np.float32)
    wanted: tuple[str, ...] = ("discharge",)
    states, tag = _states(starts, labels), None
    if ensemble.conserving:
        wanted = ("discharge", "loss", "storage", "discharge_by_tag")
        states, tag = _split_snow(starts, states, labels), np.full(shape[2], LATER)
    each = ensemble.each(forcing, _fanned_out(states, starts), wanted, tag)
    for member, (outputs, _) in enumerate(each):
        discharge[member] = outputs["discharge"]
        if not ensemble.conserving:
            continue
        cells = np.ascontiguousarray(outputs["storage"])  # or the order of a sum would depend on the number of basins
        loss[member], storage[member] = outputs["loss"], cells.sum(axis=-1)
        by_origin[member] = outputs["discharge_by_tag"]
        at_end[member], lowest[member] = cells[:, -1].sum(axis=-1, dtype=np.float64), cells.min(axis=(1, 2))
        for start, of_basin, place in zip(starts, snow, rows, strict=True):
            if start.snow is not None and of_basin is not None:
                chosen = start.snow.cells[labels[member]]
                of_basin[member] = np.take(cells[place], chosen, axis=-1).sum(axis=-1)
    for place, of_basin in zip(rows, snow, strict=True):
        water = None
        if ensemble.conserving:
            water = StorageResult(
                loss[:, place], storage[:, place], at_end[:, place], lowest[:, place], of_basin, by_origin[:, place]
            )
        yield FlowResult(discharge[:, place], water)


def _states(starts: Sequence[InitialState], labels: Sequence[str]) -> list[ArrayMap]:
    at_t0 = member_states([start.state for start in starts], len(labels))
    assert at_t0 is not None
    return at_t0


def _split_snow(starts: Sequence[InitialState], states: Sequence[ArrayMap], labels: Sequence[str]) -> list[ArrayMap]:
    apart = []
    for label, state in zip(labels, states, strict=True):
        cells = state["c"]
        tags = np.zeros((*cells.shape, len(ORIGINS)), cells.dtype)
        tags[..., OTHER] = cells
        for basin, start in enumerate(starts):
            chosen = [] if start.snow is None else start.snow.cells[label]
            tags[basin, chosen, SNOW] = cells[basin, chosen]
            tags[basin, chosen, OTHER] = 0
        apart.append(state | {"tags": tags})
    return apart


def _fanned_out(states: Sequence[ArrayMap], starts: Sequence[InitialState]) -> list[ArrayMap]:
    basins = np.repeat(np.arange(len(starts)), [start.traces for start in starts])
    return [{name: values[basins] for name, values in member.items()} for member in states]


_RAINS = np.array(RAIN_MM[1:], np.float32)
_LONGEST = START_LEADS[-1] - 1 + WINDOW_DAYS[-1] + RESPONSE_DAYS
"""Days after T0 that any response needs."""


def peaks_by_rain(loaded: LoadedVersion, starts: Sequence[InitialState], past: int = 0) -> Iterator[Array]:
    """Yield each basin's highest flow by window, start and size of rain, (windows, starts, sizes, members).

    Rain may only fall after the `past` days, which have ended. All basins have the same days ahead.
    """
    for first in range(0, len(starts), GROUP):
        group = starts[first : first + GROUP]
        states = _states(group, loaded.labels)
        weather = stacked([_usual(start.weather.forcing) for start in group])
        if past:
            _, states = loaded.ensemble.simulate(_days(weather, 1, past), states, ("discharge",))
        yield from responses(loaded.ensemble, _days(weather, past + 1, len(weather.period)), states)


def responses(ensemble: Ensemble, weather: Forcing, states: Sequence[ArrayMap]) -> Array:
    """Return the highest flow by window, start and size of rain, (basins, windows, starts, sizes, members) in mm/day.

    It is NaN where a window ends after the days of the weather, whose own precipitation is not used; days of the
    response after them are left out.
    """
    dry = replace(weather, mass=np.zeros_like(weather.mass)).over(
        Period(weather.first, min(weather.period.last, weather.first + (_LONGEST - 1)))
    )
    basins, days = dry.mass.shape
    peaks = np.full((basins, len(WINDOW_DAYS), len(START_LEADS), len(RAIN_MM), len(states)), np.nan, np.float32)
    without: list[npt.NDArray[Any]] = []
    for at, lead in enumerate(START_LEADS):
        for row, window in enumerate(WINDOW_DAYS):
            if lead - 1 + window <= days:
                peaks[:, row, at, 1:] = _peaks(ensemble, _days(dry, lead, window + RESPONSE_DAYS), states, window)
        if lead <= days:
            count = 1 if lead < START_LEADS[-1] else days
            outputs, states = ensemble.simulate(_days(dry, lead, count), states, ("discharge",))
            without.append(outputs["discharge"])
    flow = np.concatenate(without, axis=-1)  # (members, basins, days)
    for row, window in enumerate(WINDOW_DAYS):
        for at, lead in enumerate(START_LEADS):
            if lead - 1 + window <= flow.shape[-1]:
                peaks[:, row, at, 0] = flow[..., lead - 1 : lead - 1 + window + RESPONSE_DAYS].max(axis=-1).T
    return peaks


def _peaks(ensemble: Ensemble, dry: Forcing, states: Sequence[ArrayMap], window: int) -> Array:
    """Return the highest flow after rain of each size over the first days, (basins, sizes, members)."""
    basins, days = dry.mass.shape
    samples = np.repeat(np.arange(basins), len(_RAINS))
    wet = dry.basins(samples)
    wet.mass.reshape(basins, len(_RAINS), days)[..., :window] = _RAINS[:, None] / window
    fanned_out = [{name: values[samples] for name, values in state.items()} for state in states]
    each = ensemble.each(wet, fanned_out, ("discharge",))
    highest = [outputs["discharge"].max(axis=1).reshape(basins, len(_RAINS)) for outputs, _ in each]
    return np.stack(highest, axis=-1).astype(np.float32)


def _usual(ahead: Forcing) -> Forcing:
    mass, auxiliary = (values.mean(axis=0, keepdims=True, dtype=np.float64) for values in (ahead.mass, ahead.auxiliary))
    return Forcing(ahead.first, mass.astype(np.float32), auxiliary.astype(np.float32), ahead.static[:1], ahead.ids[:1])


def _days(forcing: Forcing, lead: int, count: int) -> Forcing:
    first = forcing.first + (lead - 1)
    return forcing.over(Period(first, min(first + (count - 1), forcing.period.last)))
