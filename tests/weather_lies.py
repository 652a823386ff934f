"""Right weather of the synthetic country, and the same in units that its labels do not state."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days, Period
from hydrology.weather.climate import BasinClimate
from testing.synthetic import basins as synthetic_basins

Array = npt.NDArray[np.float64]
Values = Mapping[str, Array]

RECORD = Period.parse("1996-10-01..2008-09-30")
NAMES = ("precipitation", "tmax", "tmin", "srad", "vp", "daylength")
BASINS = 8
HUMID = 4


@cache
def country() -> tuple[synthetic_basins.Landscape, synthetic_basins.Weather]:
    """Return the synthetic country and its weather."""
    land = synthetic_basins.landscape(BASINS)
    return land, synthetic_basins.weather(land, RECORD, seed=1)


def latitude(basin: int = HUMID) -> float:
    """Return the latitude of a basin."""
    return float(country()[0].latitude[basin])


def right(period: Period, basin: int = HUMID) -> tuple[Days, dict[str, Array]]:
    """Return the weather of a basin, (days,) by variable."""
    first, count = int((period.first - RECORD.first).astype(int)), len(period)
    sky = country()[1]
    return period.days, {name: getattr(sky, name)[first : first + count, basin] for name in NAMES}


def climate(basin: int = HUMID) -> BasinClimate:
    """Return the climate of a basin."""
    days, values = right(RECORD, basin)
    return BasinClimate.of_record("the stored synthetic", days, values)


def _scaled(name: str, factor: float) -> Callable[[Values], Values]:
    return lambda values: {**values, name: values[name] * factor}


def _swapped(values: Values) -> Values:
    return {**values, "tmax": values["tmin"], "tmin": values["tmax"]}


def _fahrenheit(values: Values) -> Values:
    return {**values, **{name: values[name] * 1.8 + 32 for name in ("tmax", "tmin")}}


def _accumulated(values: Values) -> Values:
    """Return precipitation in mm since the first day, without leaving what is possible."""
    return {**values, "precipitation": np.cumsum(values["precipitation"])}


def _sums(values: Values) -> Values:
    """Return radiation as the sum of a day in MJ/m2."""
    return {**values, "srad": values["srad"] * values["daylength"] / 1e6}


LIES: Mapping[str, tuple[Callable[[Values], Values], str]] = {
    "hPa": (_scaled("vp", 0.01), "look like hPa"),
    "kPa": (_scaled("vp", 0.001), "look like kPa"),
    "swapped": (_swapped, "look swapped"),
    "fahrenheit": (_fahrenheit, "look like °F"),
    "metres": (_scaled("precipitation", 0.001), "look like m/day"),
    "kg/m2/s": (_scaled("precipitation", 1 / 86_400), "kg/m2/s"),
    "accumulated": (_accumulated, "looks accumulated"),
    "megajoules": (_sums, "look like MJ/m2 a day"),
}
"""Each fault with the words of its refusal; each is refused in a year of days."""
