"""The origin of the water: what it costs, and how exactly its parts are all of the discharge, of the shipped ensemble.

447 basins x 10 members x 30 days from the states of T0, with the weather that came; the water of T0 in two parts, that
of the cells of even and of odd number, and the rain after T0. `parts_against_discharge` and `against_plain_equations`
are the largest differences over the larger of discharge and 0.01 mm/day: of the sum of the parts and the discharge that
is served, and of each part and the plain equations in float64, from the same states. There `served` is what float32
makes of gates and water alike, `served_discharge` the same of all water, with no part in it, `in_float64` the compiled
program in float64. `cost` is of CPU seconds: with parts over without, the median of pairs.

FRESHET_CAMELS names the data, FRESHET_DATA a data folder, where basins that are missing are ingested first; one thread.
"""

import copy
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.regional.data import basins
from benchmarks.regional.hindcasts import read_forcings
from benchmarks.speed.warm_forecast import cpu_seconds
from hydrology.calendar import Period, day
from models.arrays import Forcing
from models.ensemble import Ensemble
from models.inference import ArrayMap, simulate
from models.nets.mclstm import MCLSTM, Recurrence
from models.pretrained.loading import load
from operations.dataset import stacked
from operations.pretrained import read_shipped

ENSEMBLE = "mclstm-maurer-447"
T0, SPIN_UP, HORIZON = day("1996-03-31"), 730, 30
RAIN, TAGS = 2, 3
SMALLEST_FLOW = 0.01  # mm/day
PAIRS = 7
KEEP = ("discharge", "loss", "storage")

Errors = dict[str, float]
Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The days after T0, the states of T0, one a member, and the tag of each day's rain."""

    ensemble: Ensemble
    forcing: Forcing
    untold: list[ArrayMap]
    tag: npt.NDArray[np.int64]

    @property
    def told_apart(self) -> list[ArrayMap]:
        """The same states, with the water of their cells told apart."""
        return [state | {"tags": _tags(state["c"])} for state in self.untold]

    def run(self, states: list[ArrayMap]) -> list[ArrayMap]:
        """Return what each member makes of the days."""
        tagged = "tags" in states[0]
        keep = (*KEEP, "discharge_by_tag") if tagged else KEEP
        each = self.ensemble.each(self.forcing, states, keep, self.tag if tagged else None)
        return [outputs for outputs, _ in each]

    def in_float64(self, recurrence: Recurrence) -> Iterator[ArrayMap]:
        """Yield what each member makes of the days in float64."""
        inputs = self.ensemble.scaler.inputs(self.forcing, torch.float64, learnt_from=self.ensemble.learnt_from)
        inputs = replace(inputs, tag=torch.as_tensor(self.tag))
        for network, state in zip(self.ensemble.networks, self.told_apart, strict=True):
            assert isinstance(network, MCLSTM)
            exact = copy.deepcopy(network).double()
            exact.recurrence = recurrence
            yield simulate(exact, inputs, state, ("discharge", "discharge_by_tag"))[0]


def measure() -> dict[str, Any]:
    """Return the cost and the largest differences, each beside its bound."""
    torch.set_num_threads(1)
    ahead = _ahead()
    plain, tagged = ahead.run(ahead.untold), ahead.run(ahead.told_apart)
    same = all(np.array_equal(a[name], b[name]) for a, b in zip(plain, tagged, strict=True) for name in KEEP)
    parts = [_worst(one["discharge_by_tag"].sum(-1, dtype=np.float64), one["discharge"]) for one in tagged]
    costs = _costs(ahead)
    return {
        "shape": f"{len(ahead.forcing.ids)} basins x {len(tagged)} members x {HORIZON} days, {TAGS} tags, 1 thread",
        "cost": {"with_over_without": statistics.median(costs), "spread": [min(costs), max(costs)], "bound": 1.5},
        "untold_water_bit_equal": same,
        "parts_against_discharge": {"worst": max(parts), "bound": 1e-6},
        "against_plain_equations": _against_plain(ahead, tagged) | {"bound": 1e-6},
    }


def _ahead() -> _Ahead:
    ensemble = load(read_shipped(ENSEMBLE))
    whole = stacked([basin.forcing for basin in read_forcings(ensemble, basins())])
    _, states = ensemble.simulate(whole.over(Period(T0 - SPIN_UP + 1, T0)), None, ("discharge",))
    return _Ahead(ensemble, whole.over(Period(T0 + 1, T0 + HORIZON)), states, np.full(HORIZON, RAIN))


def _tags(cells: Floats) -> npt.NDArray[np.float32]:
    """Return what is in the cells (B, K) by its tag (B, K, TAGS): the cell's, and none that is still to fall."""
    of_cell = np.arange(cells.shape[1]) % RAIN
    tags: npt.NDArray[np.float32] = np.where(of_cell[:, np.newaxis] == np.arange(TAGS), cells[..., np.newaxis], 0)
    return tags


def _costs(ahead: _Ahead) -> list[float]:
    states = ahead.told_apart
    seconds = [
        (cpu_seconds(partial(ahead.run, states)), cpu_seconds(partial(ahead.run, ahead.untold))) for _ in range(PAIRS)
    ]
    return [tagged / plain for tagged, plain in seconds]


def _against_plain(ahead: _Ahead, served: list[ArrayMap]) -> Errors:
    worst: Errors = dict.fromkeys(("served", "served_discharge", "in_float64"), 0.0)
    for of_served, compiled, plain in zip(served, ahead.in_float64("fastest"), ahead.in_float64("plain"), strict=True):
        parts, discharge = plain["discharge_by_tag"], plain["discharge"]
        of_member = {
            "served": _worst(of_served["discharge_by_tag"], parts, discharge[..., np.newaxis]),
            "served_discharge": _worst(of_served["discharge"], discharge),
            "in_float64": _worst(compiled["discharge_by_tag"], parts, discharge[..., np.newaxis]),
        }
        worst = {name: max(worst[name], value) for name, value in of_member.items()}
    return worst


def _worst(values: Floats, exact: Floats, discharge: Floats | None = None) -> float:
    """Return the largest difference over the larger of discharge and SMALLEST_FLOW."""
    scale = np.maximum(exact if discharge is None else discharge, SMALLEST_FLOW)
    return float((np.abs(values - exact) / scale).max())
