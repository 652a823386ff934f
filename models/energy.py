"""Temperature and potential evapotranspiration of a forcing, for networks whose stores melt and evaporate."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from hydrology.base.calendar import Period, day_of_year
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration
from jobspec.network import LATITUDE, TEMPERATURES
from jobspec.training import InputsConfig
from models.arrays import Array, Forcing
from models.inputs import Inputs

_YEAR = Period.parse("2000-01-01..2000-12-31").days


def energy(forcing: Forcing, inputs: InputsConfig) -> tuple[Array, Array]:
    """Return mean temperature in degC and potential evapotranspiration (Oudin et al. 2005) in mm/day, (N, days) each.

    The numbers of a basin depend on its own weather and latitude alone, to the last bit.
    """
    temperature = mean_temperature(forcing, inputs)
    days = day_of_year(forcing.period.days) - 1
    latitudes = forcing.static[:, inputs.static.index(LATITUDE)].tolist()
    radiation = np.stack([_radiation_of_year(latitude)[days] for latitude in latitudes])
    pet = potential_evapotranspiration(temperature, radiation)
    return temperature.astype(np.float32), pet.astype(np.float32)


def mean_temperature(forcing: Forcing, inputs: InputsConfig) -> npt.NDArray[np.float64]:
    """Return the mean of daily maximum and minimum temperature, (N, days) in degC."""
    tmax, tmin = (forcing.auxiliary[..., inputs.auxiliary.index(name)].astype(np.float64) for name in TEMPERATURES)
    return (tmax + tmin) / 2


def with_energy(inputs: Inputs, temperature: Array, pet: Array) -> Inputs:
    """Return inputs with the results of `energy`."""
    on: dict[str, Any] = {"dtype": inputs.mass.dtype, "device": inputs.mass.device}
    return replace(inputs, temperature=torch.as_tensor(temperature.T, **on), pet=torch.as_tensor(pet.T, **on))


@lru_cache(maxsize=10_000)
def _radiation_of_year(latitude: float) -> npt.NDArray[np.float64]:
    radiation: npt.NDArray[np.float64] = extraterrestrial_radiation(_YEAR, latitude)[:, 0]
    radiation.setflags(write=False)
    return radiation
