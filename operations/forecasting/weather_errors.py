"""The flow with the weather around a weather forecast: what the errors of the weather add to those of the network.

The run itself goes on with the weather forecast as it is.
"""

from collections.abc import Collection, Mapping
from datetime import date

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import day, days_between
from hydrology.weather.forecast_errors import OtherWeather, around
from models.arrays import Array as Floats
from models.arrays import Forcing
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays
from operations.forecasting.simulate import Discharge, InitialState, mean_discharge
from operations.forecasting.weather.expected_skill import with_skill
from operations.forecasting.weather_ahead import WeatherAhead
from operations.forecasting.weather_skill import other_weather, weather_of
from operations.versions.load_networks import LoadedVersion
from records.runs.run_weather import RunWeather
from records.runs.states import State


def flow_with_errors(
    loaded: LoadedVersion,
    forecast: RunWeather,
    days: RunDays,
    forcings: Mapping[str, BasinForcing],
    weather: Mapping[str, WeatherAhead],
    states: Mapping[str, State],
    *,
    among: Mapping[str, Collection[date]] | None = None,
) -> dict[str, Discharge]:
    """Return the members' mean discharge by basin with every trace around its weather forecast, (traces, days) in
    mm/day.

    Basins whose forecast has traces far enough apart are left out, and those without other years.

    Args:
        states: at T0.
        among: the other years to take in each basin, by their first days; None for all.
    """
    names = (loaded.config.inputs.mass, *loaded.config.inputs.auxiliary)
    later = days_between(day(forecast.reference_time.date()), days.ahead.first)
    of_reference = np.array([forecast.skill.correlations[name] for name in names]).T
    correlation = of_reference[np.clip(later + np.arange(days.horizon), 0, len(of_reference) - 1)]
    starts = {}
    for name, state in states.items():
        expected = with_skill(correlation, weather[name].filled, days.ahead.first, names)
        forcing = forcings[name].forcing
        other = other_weather(forcing, days.ahead, days.t0, None if among is None else among[name])
        wide = None if other is None else _around(forcing, weather[name], other, days, names, expected)
        if wide is not None:
            starts[name] = InitialState(state, wide, None)
    return dict(zip(starts, mean_discharge(loaded, [*starts.values()]), strict=True))


def _around(
    forcing: Forcing,
    weather: WeatherAhead,
    other: OtherWeather,
    days: RunDays,
    names: tuple[str, ...],
    correlation: Array,
) -> WeatherAhead | None:
    """Return the weather around a basin's weather forecast; None where it is not needed."""
    # A trace is one weather, so its ranks among equal values are drawn alike in every basin.
    chance = np.random.default_rng(int(days.t0.astype(int)))
    traces = around(weather_of(weather.forcing), other, correlation, chance)
    if traces is None:
        return None
    if {"tmax", "tmin"} <= set(names):
        warm, cold = names.index("tmax"), names.index("tmin")
        traces[..., [cold, warm]] = np.sort(traces[..., [cold, warm]], axis=-1)
    values = traces.astype(np.float32)
    labels = tuple(str(number) for number in range(len(values)))
    static: Floats = np.repeat(forcing.static, len(values), axis=0)
    ids = forcing.ids * len(values)
    return WeatherAhead(labels, Forcing(days.ahead.first, values[..., 0], values[..., 1:], static, ids))
