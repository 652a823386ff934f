"""The spread of a forecast divided: what of it the weights, the weather after T0 and the state of T0 make.

How uncertain a state is, is taken from what may have fallen in the basin: each perturbed state is the replay of the
last year or two with other precipitation (`hydrology.weather.perturbed_forecasts.rain_factors`), and the forecast is
made from each.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.uncertainty.variance_sources import divided_variance
from hydrology.weather.perturbed_forecasts import rain_factors
from models.arrays import Forcing
from operations.data.dataset import BasinForcing
from operations.forecasting.advance_states import ONE_DAY, member_states
from operations.forecasting.simulate import InitialState, flows
from operations.forecasting.weather_ahead import WeatherAhead
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs import states
from records.runs.states import State

REPLAYED_DAYS = np.timedelta64(365, "D")
"""A replay begins from the newest stored state that is so much older than T0: stores remember rain for about a year."""


def divided(
    database: Database,
    loaded: LoadedVersion,
    forcings: Mapping[str, BasinForcing],
    weather: Mapping[str, WeatherAhead],
    at_t0: Mapping[str, State],
    count: int,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the variance of each basin's discharge on the days ahead by its sources, (sources, days).

    Args:
        at_t0: the state of T0 of each basin; others are left out.
        count: how many perturbed states there are of each basin.
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
        result[basin] = divided_variance(discharge)
    return result


def _perturbed(loaded: LoadedVersion, record: Forcing, before: State | None, at_t0: State, count: int) -> list[State]:
    """Return states of T0 as they may have been.

    Args:
        before: the state that the replays begin from; None for an empty store at the beginning of the record.
    """
    first = record.period.first if before is None else before.day + ONE_DAY
    replayed = record.over(Period(first, at_t0.day))
    chance = np.random.default_rng(int(at_t0.day.astype(int)))  # basins replayed from one day on err together
    several = replayed.basins(np.zeros(count, np.int64))
    several = replace(several, mass=(several.mass * rain_factors(replayed.period, count, chance)).astype(np.float32))
    start = member_states([before] * count, len(loaded.labels))
    _, last = loaded.ensemble.simulate(several, start, ("discharge",))
    return [
        replace(at_t0, arrays={name: np.stack([member[name][number] for member in last]) for name in last[0]})
        for number in range(count)
    ]
