"""The origin and the age of water: what they cost, and how exactly their parts are all of the discharge, of the shipped
ensemble.

447 basins x 10 members x 30 days from the states of T0, with the weather that came. Of the origin: the water of T0 in
two parts, that of the cells of even and of odd number, and the rain after T0. Of the age: the reported seasons,
with older water and the rain after T0; `past_bit_equal` is whether the past with water separated ended in the same
states, and `past_cost` is what separating it cost there. `ceiling` is the share of basins and members of which no
more ran off in these days than was stored, and the largest share of it that did. `parts_against_discharge` and
`against_plain_equations` are the largest differences over the larger of discharge and 0.01 mm/day: of the sum of the
parts and the discharge that is served, and of each part and the plain equations in float64, from the same states. There
`served` is what float32 makes of gates and water alike, `served_discharge` the same of all water, with no part in it,
`in_float64` the compiled program in float64. `cost` is of CPU seconds: with parts over without, the median of pairs.

FRESHET_CAMELS names the data, FRESHET_DATA a data folder, where basins that are missing are ingested first; one thread.
"""

import copy
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.regional.data import basins
from benchmarks.regional.seasonal.hindcasts import read_forcings
from benchmarks.speed.warm_forecast import cpu_seconds
from hydrology.base.calendar import Period, day
from hydrology.water.storage import Ages
from models.ensemble import ArrayMap, Ensemble, simulate
from models.forcing import Forcing
from models.nets.mclstm import MCLSTM
from models.pretrained import SHELF, form
from models.pretrained.form import load
from operations.basin_data.dataset import stacked
from operations.forecasting.replayed_past import all_older
from testing import plain_recurrence  # noqa: F401 - it adds the program `plain`

ENSEMBLE = "mclstm-maurer-447"
T0, SPIN_UP, HORIZON = day("1996-03-31"), 730, 30
AGES = Ages(T0)
RAIN, TAGS = 2, 3
SMALLEST_FLOW = 0.01  # mm/day
PAIRS = 7
STORE = ("discharge", "loss", "storage")

Errors = dict[str, float]
Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The days after T0, and the states of T0, one a member, without tags and with them."""

    ensemble: Ensemble
    forcing: Forcing
    untagged: list[ArrayMap]
    distinguished: list[ArrayMap]

    @property
    def tag(self) -> npt.NDArray[np.int64]:
        """That of the rain of each day: the last."""
        return np.full(HORIZON, self.distinguished[0]["tags"].shape[-1] - 1)

    def run(self, states: list[ArrayMap]) -> list[ArrayMap]:
        """Return what each member makes of the days."""
        tagged = "tags" in states[0]
        wanted = (*STORE, "discharge_by_tag") if tagged else STORE
        each = self.ensemble.each(self.forcing, states, wanted, self.tag if tagged else None)
        return [outputs for outputs, _ in each]

    def in_float64(self, recurrence: str) -> Iterator[ArrayMap]:
        """Yield what each member makes of the days in float64."""
        inputs = self.ensemble.scaler.inputs(self.forcing, torch.float64, learnt_from=self.ensemble.learnt_from)
        inputs = replace(inputs, tag=torch.as_tensor(self.tag))
        for network, state in zip(self.ensemble.networks, self.distinguished, strict=True):
            assert isinstance(network, MCLSTM)
            exact = copy.deepcopy(network).double()
            exact.recurrence = recurrence
            yield simulate(exact, inputs, state, ("discharge", "discharge_by_tag"))[0]


def measure() -> dict[str, Any]:
    """Return the cost and the largest differences, each beside its bound."""
    past = _past()
    members, count = len(past.untagged), len(past.whole.ids)
    return {
        "shape": f"{count} basins x {members} members x {HORIZON} days, 1 thread",
        "origin": _measured(past.ahead(past.by_cell)),
        "age": _measured(past.ahead(past.by_age)) | past.measured(),
    }


def _measured(ahead: _Ahead) -> dict[str, Any]:
    plain, tagged = ahead.run(ahead.untagged), ahead.run(ahead.distinguished)
    same = all(np.array_equal(a[name], b[name]) for a, b in zip(plain, tagged, strict=True) for name in STORE)
    parts = [_worst(one["discharge_by_tag"].sum(-1, dtype=np.float64), one["discharge"]) for one in tagged]
    costs = _costs(ahead)
    return {
        "tags": int(ahead.tag[0]) + 1,
        "cost": {"with_over_without": statistics.median(costs), "spread": [min(costs), max(costs)], "bound": 1.5},
        "untold_water_bit_equal": same,
        "parts_against_discharge": {"worst": max(parts), "bound": 1e-6},
        "against_plain_equations": _against_plain(ahead, tagged) | {"bound": 1e-6},
        "ceiling": _against_ceiling(ahead, tagged),
    }


def _against_ceiling(ahead: _Ahead, served: list[ArrayMap]) -> dict[str, float]:
    stored = np.stack([of["discharge_by_tag"][..., :-1].sum(axis=(1, 2), dtype=np.float64) for of in served])
    ceiling = np.stack([state["c"].sum(axis=1, dtype=np.float64) for state in ahead.untagged])
    return {"within": float((stored <= ceiling).mean()), "largest_share_of_it": float((stored / ceiling).max())}


@dataclass(frozen=True)
class _Past:
    """The days until T0, from the states at the start of the first reported season, to those of T0."""

    ensemble: Ensemble
    whole: Forcing
    started: list[ArrayMap]
    untagged: list[ArrayMap]

    @property
    def by_cell(self) -> list[ArrayMap]:
        """The states of T0, with the water of each cell as a part of its own."""
        return [state | {"tags": _tags(state["c"])} for state in self.untagged]

    @cached_property
    def by_age(self) -> list[ArrayMap]:
        """The same by the season in which it fell."""
        return self._run(distinguished=True)

    def ahead(self, distinguished: list[ArrayMap]) -> _Ahead:
        """Return the days after T0."""
        return _Ahead(self.ensemble, self.whole.over(Period(T0 + 1, T0 + HORIZON)), self.untagged, distinguished)

    def measured(self) -> dict[str, Any]:
        """Return what separating the past by season costs, and whether it ends in the same states."""
        shown, untagged = (cpu_seconds(partial(self._run, distinguished=apart)) for apart in (True, False))
        same = all(
            np.array_equal(shown[name], state[name])
            for shown, state in zip(self.by_age, self.untagged, strict=True)
            for name in state
        )
        return {"past_cost": {"days": len(self._days), "with_over_without": shown / untagged}, "past_bit_equal": same}

    @property
    def _days(self) -> Period:
        return Period(AGES.begin, T0)

    def _run(self, *, distinguished: bool) -> list[ArrayMap]:
        states, tag = self.started, None
        if distinguished:
            states, tag = [all_older(state, AGES) for state in states], AGES.of(self._days.days)
        return [end for _, end in self.ensemble.each(self.whole.over(self._days), states, (), tag)]


def _past() -> _Past:
    ensemble = load(form.read(SHELF / ENSEMBLE))
    whole = stacked([basin.forcing for basin in read_forcings(ensemble, basins())])
    _, started_at = ensemble.simulate(whole.over(Period(T0 - SPIN_UP + 1, AGES.begin - 1)), None, ())
    _, untagged = ensemble.simulate(whole.over(Period(AGES.begin, T0)), started_at, ())
    return _Past(ensemble, whole, started_at, untagged)


def _tags(cells: Floats) -> npt.NDArray[np.float32]:
    """Return what is in the cells (B, K) by its tag (B, K, TAGS): the cell's, and none that is still to fall."""
    of_cell = np.arange(cells.shape[1]) % RAIN
    tags: npt.NDArray[np.float32] = np.where(of_cell[:, np.newaxis] == np.arange(TAGS), cells[..., np.newaxis], 0)
    return tags


def _costs(ahead: _Ahead) -> list[float]:
    states = ahead.distinguished
    seconds = [
        (cpu_seconds(partial(ahead.run, states)), cpu_seconds(partial(ahead.run, ahead.untagged))) for _ in range(PAIRS)
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
