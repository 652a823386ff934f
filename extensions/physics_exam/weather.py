"""Changes of weather for the experiments of an examination."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.weather.climate import (
    extraterrestrial_radiation,
    potential_evapotranspiration,
    saturation_vapour_pressure,
)
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.forcing import Array, Forcing, mean_temperature

Numbers = npt.NDArray[np.float64]


def with_rain(forcing: Forcing, rain: npt.NDArray[np.floating]) -> Forcing:
    """Return weather with other precipitation, (basins, days) in mm/day."""
    return replace(forcing, mass=rain.astype(np.float32))


def with_added_rain(forcing: Forcing, day: npt.NDArray[np.int64], depth: npt.ArrayLike) -> Forcing:
    """Return weather with more precipitation, mm, (basins,) or one for all, on one day of each basin."""
    rain = forcing.mass.copy()
    rain[np.arange(len(rain)), day] += np.asarray(depth, np.float32)
    return with_rain(forcing, rain)


def with_temperature_change(forcing: Forcing, inputs: InputsConfig, change: npt.NDArray[np.floating]) -> Forcing:
    """Return weather changed by (basins, days) in degC, tmax and tmin alike, at the same relative humidity."""
    auxiliary: Array = forcing.auxiliary.copy()
    before = mean_temperature(forcing, inputs)
    for name in TEMPERATURES:
        auxiliary[..., inputs.auxiliary.index(name)] += change.astype(np.float32)
    if "vp" in inputs.auxiliary:
        ratio = saturation_vapour_pressure(before + change) / saturation_vapour_pressure(before)
        auxiliary[..., inputs.auxiliary.index("vp")] *= ratio.astype(np.float32)
    return replace(forcing, auxiliary=auxiliary)


def with_attribute(forcing: Forcing, inputs: InputsConfig, name: str, values: npt.NDArray[np.floating]) -> Forcing:
    """Return the basins with other values of one attribute, (basins,)."""
    static = forcing.static.copy()
    static[:, inputs.static.index(name)] = values
    return replace(forcing, static=static)


def first_days(forcing: Forcing, days: int) -> Forcing:
    return forcing.over(Period(forcing.first, forcing.first + np.timedelta64(days - 1, "D")))


def potential(forcing: Forcing, inputs: InputsConfig, latitudes: Sequence[float]) -> Numbers:
    """Return potential evapotranspiration (Oudin et al. 2005), (basins, days) in mm/day, latitudes in degrees."""
    radiation = extraterrestrial_radiation(forcing.period.days, latitudes).T
    return potential_evapotranspiration(mean_temperature(forcing, inputs), radiation)
