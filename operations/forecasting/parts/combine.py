"""Puts together what the parts of a version computed of a basin.

The members of all parts stand side by side, each with the water and weather of its own part; the traces are those that
all parts have.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent, known
from hydrology.base.products import credit_of_all
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import mean_by_shares
from models.arrays import Array
from operations.forecasting.basin.inputs import BasinInputs, SimulatedBasin, SimulatedPart, StartedPart, WaterAtT0
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.days import RunDays
from operations.forecasting.simulate import FlowResult, StorageResult
from operations.versions.load_networks import LoadedVersion
from records.runs.run_weather import RunSubset, hash_of_parts
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping

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
