"""Mean potential evapotranspiration of a basin, from its own weather."""

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.weather.evaporation import extraterrestrial_radiation, potential_evapotranspiration
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.arrays import Forcing
from models.energy import mean_temperature
from records.basins.tables import Basin


def mean_pet(basin: Basin, forcing: Forcing, inputs: InputsConfig) -> float | Absent:
    """Return mean potential evapotranspiration over some days in mm/day, or why it is unknown.

    Args:
        forcing: of this basin only; days with a missing temperature are left out.
        inputs: describes the forcing's variables.
    """
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return absent(Reason.PET_LACKS_TEMPERATURE, variables=" and ".join(lacking))
    if basin.latitude is None:
        return absent(Reason.PET_LACKS_LATITUDE)
    radiation = extraterrestrial_radiation(forcing.period.days, basin.latitude)[:, 0]
    return float(np.nanmean(potential_evapotranspiration(mean_temperature(forcing, inputs)[0], radiation)))
