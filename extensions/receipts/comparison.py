"""Compares the results of a run that was computed again with the stored ones, and names the causes of differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hydrology.base.absent import Absent
from operations.versions.processes import program
from records.runs import run_arrays, run_types
from records.runs.run_arrays import Content, RunSeries, without_members
from records.runs.run_weather import RunPart
from runtime.release import code_version

Cause = Literal[
    "inputs", "parent-state", "weights", "program", "code", "calibration", "normals", "snow-cells", "unknown"
]
CAUSES: Mapping[Cause, str] = {
    "inputs": "weather, a bridge or an attribute was revised since the run, and the values before are not stored",
    "parent-state": "the state that the run started from is not stored any more, nor can it be computed again",
    "weights": "the weights of the version are not those of the run",
    "program": "another program computed the run (torch, its vector unit, or the recurrence)",
    "code": "another version of Freshet computed the run",
    "calibration": "the error model was fitted again, or other observed flow is known now",
    "normals": "other years of flow are known now",
    "snow-cells": "other cells are read as snow now",
    "unknown": "no input is known to differ; report it with both results",
}
"""Why a result differs, a clause."""
BEYOND_THE_SIMULATION: Mapping[str, Cause] = {
    run_arrays.CALIBRATED: "calibration",
    run_arrays.PATHS: "calibration",
    run_types.ERROR_SHIFTS: "calibration",
    run_arrays.NORMAL: "normals",
    "snow": "snow-cells",
    run_types.SNOW_SPREAD: "snow-cells",
    run_types.ORIGIN: "snow-cells",
}
"""Arrays that depend on more than the inputs in the run's hash, and on what."""


@dataclass(frozen=True, slots=True)
class Stored:
    run: run_types.Run
    row: run_types.RunBasin
    content: Content

    @property
    def shares(self) -> tuple[RunPart, ...]:
        """The parts of the version that took part."""
        return run_types.shares_of(self.run, self.row)


@dataclass(frozen=True, slots=True)
class Difference:
    """An array whose bits are not the stored ones.

    The largest absolute difference is in `unit`, None where the shapes differ; `relative` is to the largest stored
    value.
    """

    variable: str
    unit: str
    largest: float | None
    relative: float | None
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class BasinReceipt:
    """The comparison in one basin: arrays with the stored bits, with others, and not computed again."""

    basin_id: str
    equal: tuple[str, ...] = ()
    different: tuple[Difference, ...] = ()
    not_computed: tuple[str, ...] = ()
    reason: Absent | None = None

    @property
    def reproduced(self) -> bool:
        """Whether all that follows from the run's inputs has the stored bits."""
        return self.reason is None and self.worst is None

    @property
    def worst(self) -> Difference | None:
        """The largest relative difference of an array that follows from the run's inputs; None without one."""
        revised = {*BEYOND_THE_SIMULATION.values()}
        own = [one for one in self.different if not revised.issuperset(one.causes)]
        return max(own, key=lambda one: np.inf if one.relative is None else one.relative, default=None)


def compared(stored: Stored, again: run_types.BasinResult | Absent, *, same_weights: bool) -> BasinReceipt:
    """Compare a stored result with the one computed again, without members where those were pruned."""
    name = stored.row.basin_id
    if isinstance(again, Absent):
        return BasinReceipt(name, reason=again)
    content = Content({series.variable: series for series in again.series}, again.ledgers)
    there, here = stored.content.series, (without_members(content) if stored.row.pruned else content).series
    if not here:
        return BasinReceipt(name, reason=again.basin.why_missing)
    both = [variable for variable in there if variable in here]
    equal = tuple(variable for variable in both if _same_bits(there[variable], here[variable]))
    row, causes = again.basin, _causes(stored, again.basin, same_weights)
    simulated = all(variable in equal for variable in both if variable not in BEYOND_THE_SIMULATION)
    different = tuple(
        _difference(there[variable], here[variable], _own_cause(variable, stored.row, row) if simulated else causes)
        for variable in both
        if variable not in equal
    )
    return BasinReceipt(name, equal, different, tuple(variable for variable in there if variable not in here))


def _causes(stored: Stored, again: run_types.RunBasin, same_weights: bool) -> tuple[Cause, ...]:
    run, row = stored.run, stored.row
    differs: dict[Cause, bool] = {
        "inputs": again.inputs_hash != row.inputs_hash,
        "parent-state": again.parent_hash != row.parent_hash,
        "weights": not same_weights,
        "program": program() != run.program,
        "code": run.code_version != code_version(),
    }
    return tuple(cause for cause, there in differs.items() if there) or ("unknown",)


def _own_cause(variable: str, stored: run_types.RunBasin, again: run_types.RunBasin) -> tuple[Cause, ...]:
    """Return the cause of a difference where the simulation has the stored bits."""
    cause = BEYOND_THE_SIMULATION.get(variable, "unknown")
    if cause == "calibration" and again.summary.calibration == stored.summary.calibration:
        return ("unknown",)
    return (cause,)


def _same_bits(there: RunSeries, here: RunSeries) -> bool:
    one, other = there.values, here.values
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()


def _difference(there: RunSeries, here: RunSeries, causes: tuple[Cause, ...]) -> Difference:
    one, other = there.values.astype(np.float64), here.values.astype(np.float64)
    largest = relative = None
    if one.shape == other.shape and (np.isnan(one) == np.isnan(other)).all():
        largest = float(np.nanmax(np.abs(one - other)))
        scale = float(np.nanmax(np.abs(one)))
        relative = largest / scale if scale else None
    return Difference(there.variable, there.unit, largest, relative, causes)
