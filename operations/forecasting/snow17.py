"""Snow-17 on a basin's own weather. A second estimate of the snow at T0 without a reference."""

from collections.abc import Mapping

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.snow.snow17 import snow17
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.energy import mean_temperature
from operations.basin_data.dataset import BasinForcing
from records.basins.basins import Basin

DAYS = 730
"""It starts on bare ground this many days before T0, so that a summer lies between."""
ELEVATION = "elev_mean"


def snow17_at(
    t0: Day, basins: Mapping[str, Basin], forcings: Mapping[str, BasinForcing], inputs: InputsConfig
) -> dict[str, float | Absent]:
    """Return the snow water equivalent of basins at T0 by Snow-17, mm, or why it is unknown.

    The parameters are Snow-17's usual ones.

    Args:
        forcings: until T0 at least, of each of the basins.
        inputs: describes the forcings' variables.
    """
    days = Period(t0 - DAYS + 1, t0)
    outcomes: dict[str, float | Absent] = {}
    precipitation, temperature, elevation = list[Array](), list[Array](), dict[str, float]()
    for name, basin in basins.items():
        weather = _weather(forcings[name], inputs, days)
        height = basin.attributes.get(ELEVATION)
        if isinstance(weather, Absent):
            outcomes[name] = weather
        elif height is None:
            outcomes[name] = absent(Reason.SNOW17_LACKS_ELEVATION, attribute=ELEVATION)
        else:
            elevation[name] = height
            precipitation.append(weather[0])
            temperature.append(weather[1])
    if elevation:
        heights = np.array(list(elevation.values()))
        run = snow17(np.column_stack(precipitation), np.column_stack(temperature), days.days, elevation=heights)
        outcomes |= dict(zip(elevation, run.state.swe.tolist(), strict=True))
    return outcomes


def _weather(forcing: BasinForcing, inputs: InputsConfig, days: Period) -> tuple[Array, Array] | Absent:
    """Return precipitation and mean temperature, (days,), or why they are unknown."""
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return absent(Reason.SNOW17_LACKS_VARIABLES, variables=" and ".join(lacking))
    if forcing.period.overlap(days) != days:
        return absent(Reason.SNOW17_RECORD_TOO_SHORT, days=DAYS, first=str(forcing.period.first))
    weather = forcing.forcing.over(days)
    if weather.missing.any():
        return absent(Reason.SNOW17_WEATHER_GAP, days=DAYS)
    return weather.mass[0].astype(np.float64), mean_temperature(weather, inputs)[0]
