"""Simulates the response of flow to rain of several sizes after T0, from each member's state.

No other rain falls; all other weather is the mean of the run's traces. The rain falls evenly over its window.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.extremes.rain_margin import RAIN_MM, RESPONSE_DAYS, START_LEADS, WINDOW_DAYS
from models.arrays import Array, Forcing
from models.ensemble import Ensemble
from models.inference import GROUP, ArrayMap
from operations.basin_data.dataset import stacked
from operations.forecasting.simulate import InitialState
from operations.states.advance_states import member_states
from operations.versions.load_networks import LoadedVersion

_RAINS = np.array(RAIN_MM[1:], np.float32)
_LONGEST = START_LEADS[-1] - 1 + WINDOW_DAYS[-1] + RESPONSE_DAYS
"""Days after T0 that any response needs."""


def peaks_by_rain(loaded: LoadedVersion, starts: Sequence[InitialState], past: int = 0) -> Iterator[Array]:
    """Yield each basin's highest flow by window, start and size of rain, (windows, starts, sizes, members).

    Args:
        starts: all with the same days ahead.
        past: number of these days that have ended: rain may only fall after them.
    """
    for first in range(0, len(starts), GROUP):
        group = starts[first : first + GROUP]
        states = member_states([start.state for start in group], len(loaded.labels))
        assert states is not None
        weather = stacked([_usual(start.weather.forcing) for start in group])
        if past:
            _, states = loaded.ensemble.simulate(_days(weather, 1, past), states, ("discharge",))
        yield from responses(loaded.ensemble, _days(weather, past + 1, len(weather.period)), states)


def responses(ensemble: Ensemble, weather: Forcing, states: Sequence[ArrayMap]) -> Array:
    """Return the highest flow by window, start and size of rain, (basins, windows, starts, sizes, members) in mm/day.

    It is NaN where a window ends after the days of the weather; days of the response after them are left out.

    Args:
        weather: of the days after T0, a row a basin; its precipitation is not used.
        states: of T0, by member.
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
    _fill_without_rain(peaks, np.concatenate(without, axis=-1))
    return peaks


def _fill_without_rain(peaks: Array, flow: npt.NDArray[Any]) -> None:
    """Enter the highest flow without rain, from that of each day, (members, basins, days)."""
    for row, window in enumerate(WINDOW_DAYS):
        for at, lead in enumerate(START_LEADS):
            if lead - 1 + window <= flow.shape[-1]:
                peaks[:, row, at, 0] = flow[..., lead - 1 : lead - 1 + window + RESPONSE_DAYS].max(axis=-1).T


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
