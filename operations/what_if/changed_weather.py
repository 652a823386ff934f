"""Changes the weather after T0 for a what-if run."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.base.variables import IN_DEGREES, WEATHER
from hydrology.weather.humidity import saturation_vapour_pressure
from jobspec.changes import Changes
from jobspec.training import InputsConfig
from models.arrays import Array
from operations.forecasting.weather_ahead import WeatherAhead

VAPOUR = "vp"


def changed(basin: str, weather: WeatherAhead, inputs: InputsConfig, changes: Changes) -> WeatherAhead | Absent:
    """Apply changes to a basin's weather, or return why they cannot be applied.

    Precipitation is changed by its percentage, then the storm is added. Degrees are added to the temperatures that the
    network takes; vapour pressure changes with the saturation pressure at the day's mean temperature. All else is
    unchanged.

    Args:
        inputs: describes the series that the network takes.
    """
    forcing = weather.forcing
    values = dict(zip(inputs.auxiliary, np.moveaxis(forcing.auxiliary, -1, 0), strict=True))
    if changes.degrees != 0 and not any(name in values for name in IN_DEGREES):
        return absent(Reason.NO_TEMPERATURE_TO_CHANGE, basin=basin)
    warmer = _warmer(values, changes.degrees) if changes.degrees != 0 else {}
    wetter = _wetter(forcing.mass, changes)
    if (reason := _why_impossible(basin, forcing.period, {inputs.mass: wetter, **warmer})) is not None:
        return reason
    auxiliary = np.stack([*{**values, **warmer}.values()], axis=-1) if warmer else forcing.auxiliary
    return replace(weather, forcing=replace(forcing, mass=wetter, auxiliary=auxiliary))


def _wetter(mass: Array, changes: Changes) -> Array:
    """Return the changed precipitation."""
    wetter = mass.copy()
    if changes.precipitation_percent != 0:
        wetter = (wetter * np.float64(1 + changes.precipitation_percent / 100)).astype(np.float32)
    if changes.storm is not None:
        wetter[:, changes.storm.lead - 1] += np.float32(changes.storm.mm)
    return wetter


def _warmer(values: Mapping[str, Array], degrees: float) -> dict[str, Array]:
    """Return the changed series by name: temperatures, and the vapour pressure."""
    temperatures = {name: values[name] for name in IN_DEGREES if name in values}
    warmer = {name: of_days + np.float32(degrees) for name, of_days in temperatures.items()}
    if VAPOUR in values:
        mean = temperatures.get("tmean", np.mean([*temperatures.values()], axis=0, dtype=np.float64))
        ratio = saturation_vapour_pressure(mean + degrees) / saturation_vapour_pressure(mean)
        warmer[VAPOUR] = (values[VAPOUR] * ratio).astype(np.float32)
    return warmer


def _why_impossible(basin: str, days: Period, values: dict[str, Array]) -> Absent | None:
    """Name the first value outside its possible range (`hydrology.base.variables.WEATHER`); None without any."""
    for name, of_traces in values.items():
        if name not in WEATHER:
            continue
        quantity = WEATHER[name]
        outside = (of_traces < quantity.lowest) | (of_traces > quantity.highest)
        if outside.any():
            trace, day = np.argwhere(outside)[0]
            return absent(
                Reason.WEATHER_IMPOSSIBLE,
                basin=basin,
                variable=name,
                day=str(days.days[day]),
                value=float(of_traces[trace, day]),
                unit=quantity.unit,
                lowest=quantity.lowest,
                highest=quantity.highest,
            )
    return None
