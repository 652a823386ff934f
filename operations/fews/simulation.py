"""Runs the networks over the days until T0, then on with every member of the weather."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models import balance
from models.arrays import Array, Forcing
from models.ensemble import Ensemble
from models.inference import GROUP, ArrayMap
from operations.fews.days import Days

Means = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulationStart:
    """The initial state and weather of one location.

    Attributes:
        weather: (members, days, variables), precipitation first.
        static: (attributes,).
        state: of each network, named arrays (1, ...); None for empty stores.
    """

    basin: str
    weather: Array
    static: Array
    state: Sequence[ArrayMap] | None


@dataclass(frozen=True, slots=True)
class SimulatedFlow:
    """The simulation of one location: the mean over all networks.

    Attributes:
        discharge: (members, days), mm/day.
        loss, storage: likewise, mm/day and mm; None where the networks do not conserve mass.
        state: at T0, as in `SimulationStart`.
        fault: why the result cannot be right; None where no fault was found.
    """

    discharge: Means
    loss: Means | None
    storage: Means | None
    state: Sequence[ArrayMap]
    fault: str | None


@dataclass(frozen=True, slots=True)
class _Part:
    """Some days of N rows.

    Means (N, days), the networks' last states, and faults by row."""

    discharge: Means
    loss: Means | None
    storage: Means | None
    last: list[ArrayMap]
    faults: dict[int, str]


def flows(ensemble: Ensemble, starts: Sequence[SimulationStart], days: Days) -> Iterator[SimulatedFlow]:
    """Simulate locations, all from states or all from empty stores.

    Yield each, in their order."""
    for first in range(0, len(starts), GROUP):
        yield from _together(ensemble, starts[first : first + GROUP], days)


def _together(ensemble: Ensemble, starts: Sequence[SimulationStart], days: Days) -> Iterator[SimulatedFlow]:
    states = _joined([start.state for start in starts if start.state is not None])
    parts = []
    until, members = days.history, len(starts[0].weather)
    if until:
        history = _part(ensemble, _forcing(starts, days, slice(0, until), slice(0, 1)), states)
        states, faults = history.last, history.faults
        parts.append((history, 1))
    else:
        faults = {}
    assert states is not None  # a run without days until T0 starts from a state
    if until < len(days.period):
        rows = np.repeat(np.arange(len(starts)), members)
        repeated: list[ArrayMap] = [{name: values[rows] for name, values in one.items()} for one in states]
        ahead = _part(ensemble, _forcing(starts, days, slice(until, None), slice(None)), repeated)
        faults = {row // members: fault for row, fault in ahead.faults.items()} | faults
        parts.append((ahead, members))
    for at in range(len(starts)):
        discharge = _spliced([(part.discharge, count) for part, count in parts], at, members)
        assert discharge is not None
        yield SimulatedFlow(
            discharge,
            _spliced([(part.loss, count) for part, count in parts], at, members),
            _spliced([(part.storage, count) for part, count in parts], at, members),
            [{name: values[at : at + 1] for name, values in one.items()} for one in states],
            faults.get(at),
        )


def _spliced(parts: Sequence[tuple[Means | None, int]], at: int, members: int) -> Means | None:
    """Join the parts of a location's days, (members, days)."""
    own = [
        np.broadcast_to(values[at * count : (at + 1) * count], (members, values.shape[1]))
        for values, count in parts
        if values is not None
    ]
    return np.concatenate(own, axis=1) if own else None


def _part(ensemble: Ensemble, forcing: Forcing, states: list[ArrayMap] | None) -> _Part:
    conserving = ensemble.conserving
    wanted = ("discharge", "loss", "storage") if conserving else ("discharge",)
    computed: dict[str, list[npt.NDArray[np.floating]]] = {name: [] for name in wanted}
    last = []
    for outputs, after in ensemble.each(forcing, states, wanted):
        last.append(after)
        for name in wanted:
            values = outputs[name]
            computed[name].append(values.sum(axis=-1, dtype=np.float64) if name == "storage" else values)
    stacked: ArrayMap = {name: np.stack(values) for name, values in computed.items()}
    means = {name: values.mean(axis=0, dtype=np.float64) for name, values in stacked.items()}
    faults = {}
    for row in range(len(forcing.ids) if conserving else 0):
        if fault := balance.fault(forcing.mass[row], stacked, states, last, None, row):
            faults[row] = str(fault)
    return _Part(means["discharge"], means.get("loss"), means.get("storage"), last, faults)


def _forcing(starts: Sequence[SimulationStart], days: Days, of_days: slice, members: slice) -> Forcing:
    weather = np.concatenate([start.weather[members, of_days] for start in starts])
    per_start = len(weather) // len(starts)
    return Forcing(
        days.period.days[of_days][0],
        weather[..., 0],
        weather[..., 1:],
        np.repeat(np.stack([start.static for start in starts]), per_start, axis=0),
        tuple(start.basin for start in starts for _ in range(per_start)),
    )


def _joined(states: Sequence[Sequence[ArrayMap]]) -> list[ArrayMap] | None:
    """Join the states of locations into one map per network, locations on the first axis."""
    if not states:
        return None
    return [
        {name: np.concatenate([one[network][name] for one in states]) for name in states[0][network]}
        for network in range(len(states[0]))
    ]
