"""Runs the networks over the days until T0, then on with every member of the weather."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extensions.fews.series import Days
from models.ensemble import GROUP, ArrayMap, Ensemble, balance_fault
from models.forcing import Array, Forcing

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
        means: (members, days) by name: `discharge`, mm/day; where the networks conserve mass also `loss`, mm/day, and
            `storage`, mm.
        state: at T0, as in `SimulationStart`.
        fault: why the result cannot be right; None where no fault was found.
    """

    means: Mapping[str, Means]
    state: Sequence[ArrayMap]
    fault: str | None


def flows(ensemble: Ensemble, starts: Sequence[SimulationStart], days: Days) -> Iterator[SimulatedFlow]:
    """Simulate locations, all from states or all from empty stores. Yield each, in their order."""
    for first in range(0, len(starts), GROUP):
        yield from _together(ensemble, starts[first : first + GROUP], days)


def _together(ensemble: Ensemble, starts: Sequence[SimulationStart], days: Days) -> Iterator[SimulatedFlow]:
    states = _joined([start.state for start in starts if start.state is not None])
    count, members, until = len(starts), len(starts[0].weather), days.history
    parts, faults = list[Mapping[str, Means]](), dict[int, str]()
    if until:
        means, states, faults = _part(ensemble, _forcing(starts, days, slice(0, until), slice(0, 1)), states)
        parts.append({name: values[:, None].repeat(members, axis=1) for name, values in means.items()})
    assert states is not None  # a run without days until T0 starts from a state
    if until < len(days.period):
        rows = np.repeat(np.arange(count), members)
        repeated: list[ArrayMap] = [{name: values[rows] for name, values in one.items()} for one in states]
        means, _, of_rows = _part(ensemble, _forcing(starts, days, slice(until, None), slice(None)), repeated)
        parts.append({name: values.reshape(count, members, -1) for name, values in means.items()})
        faults = {row // members: fault for row, fault in of_rows.items()} | faults
    whole = {name: np.concatenate([part[name] for part in parts], axis=2) for name in parts[0]}
    for at in range(count):
        yield SimulatedFlow(
            {name: values[at] for name, values in whole.items()},
            [{name: values[at : at + 1] for name, values in one.items()} for one in states],
            faults.get(at),
        )


def _part(
    ensemble: Ensemble, forcing: Forcing, states: list[ArrayMap] | None
) -> tuple[dict[str, Means], list[ArrayMap], dict[int, str]]:
    """Simulate some days of N rows. Return means (N, days), the networks' last states, and faults by row."""
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
    faults = {}
    for row in range(len(forcing.ids) if conserving else 0):
        if fault := balance_fault(forcing.mass[row], stacked, states, last, None, row):
            faults[row] = str(fault)
    return {name: values.mean(axis=0, dtype=np.float64) for name, values in stacked.items()}, last, faults


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
