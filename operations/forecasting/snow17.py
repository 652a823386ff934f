"""Snow-17 on a basin's own weather. A second estimate of the snow at T0, and of its normal, without a reference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, days_between, same_day
from hydrology.base.reasons import Reason
from hydrology.climatology.flow_climatology import NEAR_DAYS
from hydrology.climatology.normals import MIN_YEARS
from hydrology.snow.against_normal import SnowEstimate
from hydrology.snow.snow17 import snow17
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.energy import mean_temperature
from models.nets.products import BLOCK
from operations.basin_data.dataset import BasinForcing
from records.basins.tables import Basin

DAYS = 730
"""It starts on bare ground this many days before T0, so that a summer lies between."""
ELEVATION = "elev_mean"


@dataclass(frozen=True, slots=True)
class _Weather:
    """Precipitation and mean temperature of a basin's record, (2, days), NaN on days that lack any forcing."""

    record: Period
    values: Array
    elevation: float

    def until(self, last: Day, days: int) -> Array:
        """Return the values of a number of days until a last one, (2, days), fewer where the record is shorter."""
        end = days_between(self.record.first, last) + 1
        return self.values[:, max(end - days, 0) : max(end, 0)]

    def of_other_years(self, t0: Day) -> Iterator[Array]:
        """Yield those until `NEAR_DAYS` after the same day of each other year that is known so far."""
        years = np.arange(self.record.first.astype("datetime64[Y]"), self.record.last.astype("datetime64[Y]") + 1)
        for same in same_day(t0, years[years != t0.astype("datetime64[Y]")]):
            part = self.until(same + NEAR_DAYS, DAYS + NEAR_DAYS)
            if part.shape[1] == DAYS + NEAR_DAYS and not np.isnan(part).any():
                yield part


def snow17_at(
    t0: Day, basins: Mapping[str, Basin], forcings: Mapping[str, BasinForcing], inputs: InputsConfig
) -> dict[str, SnowEstimate | Absent]:
    """Return the snow of basins at T0 by Snow-17, mm, or why it is unknown.

    The parameters are Snow-17's usual ones. The normal is the mean within `NEAR_DAYS` of the day in the other years,
    each simulated from bare ground as T0's is; None with fewer than `MIN_YEARS` of them.

    Args:
        forcings: until T0 at least, of each of the basins.
        inputs: describes the forcings' variables.
    """
    outcomes: dict[str, SnowEstimate | Absent] = {}
    ready: dict[str, _Weather] = {}
    for name, basin in basins.items():
        weather = _weather(basin, forcings[name], inputs, t0)
        if isinstance(weather, Absent):
            outcomes[name] = weather
        else:
            ready[name] = weather
    names = [*ready]
    for first in range(0, len(names), BLOCK):
        outcomes |= _estimates({name: ready[name] for name in names[first : first + BLOCK]}, t0)
    return outcomes


def _estimates(ready: Mapping[str, _Weather], t0: Day) -> dict[str, SnowEstimate]:
    now = _simulated([of.until(t0, DAYS) for of in ready.values()], [of.elevation for of in ready.values()], t0)
    years = {name: [*weather.of_other_years(t0)] for name, weather in ready.items()}
    parts = [(part, ready[name].elevation) for name, of in years.items() for part in of]
    near = _simulated([part for part, _ in parts], [elevation for _, elevation in parts], t0 + NEAR_DAYS)
    means = iter(near[-2 * NEAR_DAYS - 1 :].mean(axis=0).tolist())
    of_years = {name: [next(means) for _ in of] for name, of in years.items()}
    return {
        name: SnowEstimate(mm, float(np.mean(of)) if len(of) >= MIN_YEARS else None)
        for (name, of), mm in zip(of_years.items(), now[-1].tolist(), strict=True)
    }


def _simulated(weather: Sequence[Array], elevations: Sequence[float], last: Day) -> Array:
    """Return the snow water equivalent, (days, columns), of columns of weather (2, days) as if all ended on one day."""
    if not weather:
        return np.empty((1, 0))
    precipitation, temperature = np.stack(weather, axis=-1)
    days = Period(last - len(precipitation) + 1, last).days
    return snow17(precipitation, temperature, days, elevation=np.array(elevations)).swe


def _weather(basin: Basin, forcing: BasinForcing, inputs: InputsConfig, t0: Day) -> _Weather | Absent:
    """Return the weather of a basin's record, or why Snow-17 cannot use it."""
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return absent(Reason.SNOW17_LACKS_VARIABLES, variables=" and ".join(lacking))
    if (elevation := basin.attributes.get(ELEVATION)) is None:
        return absent(Reason.SNOW17_LACKS_ELEVATION, attribute=ELEVATION)
    if forcing.period.first > t0 - DAYS + 1:
        return absent(Reason.SNOW17_RECORD_TOO_SHORT, days=DAYS, first=str(forcing.period.first))
    known = forcing.forcing
    values = np.stack([known.mass[0].astype(np.float64), mean_temperature(known, inputs)[0]])
    values[:, known.missing[0]] = np.nan
    weather = _Weather(forcing.period, values, elevation)
    return absent(Reason.SNOW17_WEATHER_GAP, days=DAYS) if np.isnan(weather.until(t0, DAYS)).any() else weather
