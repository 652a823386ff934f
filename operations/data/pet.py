"""Mean potential evapotranspiration of a basin, from its own weather."""

import numpy as np

from hydrology.weather.evaporation import extraterrestrial_radiation, potential_evapotranspiration
from jobspec.training import InputsConfig
from models.arrays import Forcing
from records.basins.basins import Basin

TEMPERATURES = ("tmax", "tmin")


def mean_pet(basin: Basin, forcing: Forcing, inputs: InputsConfig) -> float | str:
    """Return mean potential evapotranspiration over some days in mm/day, or why it is unknown.

    Args:
        forcing: of this basin only; days with a missing temperature are left out.
        inputs: describes the forcing's variables.
    """
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return f"Potential evapotranspiration needs {' and '.join(lacking)}, which this model does not take."
    if basin.latitude is None:
        return "Potential evapotranspiration needs the latitude of the basin, which is not known."
    tmax, tmin = (forcing.auxiliary[0, :, inputs.auxiliary.index(name)] for name in TEMPERATURES)
    radiation = extraterrestrial_radiation(forcing.period.days, basin.latitude)[:, 0]
    return float(np.nanmean(potential_evapotranspiration((tmax.astype(np.float64) + tmin) / 2, radiation)))
