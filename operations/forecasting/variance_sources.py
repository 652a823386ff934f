"""Splits a forecast's spread into the shares of weights, weather after T0 and state of T0.

The uncertainty of a state is derived from that of past precipitation: each perturbed state is a replay of the last year
or two with perturbed precipitation (`hydrology.weather.perturbed_forecasts.rain_factors`), and a forecast is computed
from each.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.uncertainty.variance_sources import over_states
from hydrology.weather.perturbed_forecasts import rain_factors
from models.arrays import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.simulate import InitialState, flows
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import ONE_DAY, member_states
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs import states
from records.runs.states import State

REPLAYED_DAYS = np.timedelta64(365, "D")
"""A replay starts from the newest stored state this much older than T0: stores remember rain for about a year."""


def from_perturbed_states(
    database: Database,
    loaded: LoadedVersion,
    forcings: Mapping[str, BasinForcing],
    weather: Mapping[str, WeatherAhead],
    at_t0: Mapping[str, State],
    count: int,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the mean and variance of each basin's discharge over perturbed states, (2, members, traces, days).

    Args:
        at_t0: the state of T0 by basin; other basins are left out.
        count: number of perturbed states per basin.
    """
    with database.reading() as session:
        before = {
            basin: states.newest_valid(session, loaded.version.id, basin, state.day - REPLAYED_DAYS)
            for basin, state in at_t0.items()
        }
    result = {}
    for basin, state in at_t0.items():
        perturbed = _perturbed(loaded, forcings[basin].forcing, before[basin], state, count)
        starts = [InitialState(of_state, weather[basin], None) for of_state in perturbed]
        discharge = np.stack([flow.discharge for flow in flows(loaded, starts)], axis=2)
        result[basin] = over_states(discharge)
    return result


def _perturbed(loaded: LoadedVersion, record: Forcing, before: State | None, at_t0: State, count: int) -> list[State]:
    """Return perturbed states of T0.

    Args:
        before: the state that the replays start from; None for the empty store at the start of the record.
    """
    first = record.period.first if before is None else before.day + ONE_DAY
    replayed = record.over(Period(first, at_t0.day))
    chance = np.random.default_rng(int(at_t0.day.astype(int)))  # basins replayed from the same day share their errors
    several = replayed.basins(np.zeros(count, np.int64))
    several = replace(several, mass=(several.mass * rain_factors(replayed.period, count, chance)).astype(np.float32))
    start = member_states([before] * count, len(loaded.labels))
    _, last = loaded.ensemble.simulate(several, start, ("discharge",))
    return [
        replace(at_t0, arrays={name: np.stack([member[name][number] for member in last]) for name in last[0]})
        for number in range(count)
    ]
