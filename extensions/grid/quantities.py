"""What a grid may hold: the names of its quantities in CF and in GRIB, and their units."""

from typing import NamedTuple

PRECIPITATION, RADIATION, ELEVATION = "precipitation", "srad", "elevation"
TEMPERATURE, DEW_POINT, VAPOUR_PRESSURE = "temperature", "dew point", "vp"
TMAX, TMIN = "tmax", "tmin"
FLUXES = (PRECIPITATION, RADIATION)
"""Amounts over a span of time: in mm and J/m2; all others are states."""

NAMES = {
    PRECIPITATION: "precipitation_amount lwe_thickness_of_precipitation_amount precipitation_flux rainfall_amount "
    "lwe_precipitation_rate precipitation total_precipitation tp apcp prcp pr prate tprate mtpr avg_tprate "
    "precipitation_surface apcp_surface",
    TEMPERATURE: "air_temperature 2t t2m tas tmean temperature_2m tmp_2maboveground",
    TMAX: "mx2t mx2t3 mx2t6 max_2t tmax tasmax tmmx maximum_temperature_2m daily_maximum_temperature",
    TMIN: "mn2t mn2t3 mn2t6 min_2t tmin tasmin tmmn minimum_temperature_2m daily_minimum_temperature",
    DEW_POINT: "dew_point_temperature 2d d2m dew_point_2m dew_point_temperature_2m",
    VAPOUR_PRESSURE: "water_vapor_partial_pressure_in_air vp",
    RADIATION: "surface_downwelling_shortwave_flux_in_air "
    "integral_wrt_time_of_surface_downwelling_shortwave_flux_in_air ssrd sdswrf dswrf avg_sdswrf msdwswrf rsds srad "
    "downward_short_wave_radiation_flux_surface dswrf_surface",
    ELEVATION: "surface_altitude surface_geopotential orog z",
}
QUANTITY_OF = {name: quantity for quantity, names in NAMES.items() for name in names.split()}
"""Quantities by standard name of CF, short name of GRIB and usual name of a variable, in small letters."""


class Unit(NamedTuple):
    """How values become ours: `value * scale + offset`; a rate is per second."""

    scale: float
    offset: float = 0.0
    is_rate: bool = False


_MM, _MM_S, _MM_H, _MM_DAY = Unit(1.0), Unit(1.0, 0, True), Unit(1 / 3_600, 0, True), Unit(1 / 86_400, 0, True)
_TEMPERATURES = {"K": Unit(1.0, -273.15), "kelvin": Unit(1.0, -273.15)} | dict.fromkeys(
    ("degC", "degree_Celsius", "degrees_Celsius", "celsius", "C", "°C"), Unit(1.0)
)
UNITS = {
    PRECIPITATION: dict.fromkeys(("kg m-2", "kg/m2", "mm"), _MM)
    | dict.fromkeys(("kg m-2 s-1", "kg/m2/s", "mm s-1", "mm/s"), _MM_S)
    | dict.fromkeys(("mm h-1", "mm hr-1", "mm/h", "mm/hr"), _MM_H)
    | dict.fromkeys(("mm d-1", "mm day-1", "mm/d", "mm/day"), _MM_DAY)
    | {"m": Unit(1_000.0), "m s-1": Unit(1_000.0, 0, True)},
    **dict.fromkeys((TEMPERATURE, TMAX, TMIN, DEW_POINT), _TEMPERATURES),
    VAPOUR_PRESSURE: {"Pa": Unit(1.0), "hPa": Unit(100.0), "kPa": Unit(1_000.0)},
    RADIATION: dict.fromkeys(("J m-2", "J/m2"), Unit(1.0))
    | dict.fromkeys(("W m-2", "W/m2"), Unit(1.0, 0, True))
    | {"MJ m-2": Unit(1e6), "MJ/m2": Unit(1e6)},
    ELEVATION: {"m": Unit(1.0), "gpm": Unit(1.0), "m2 s-2": Unit(1 / 9.80665)},
}
"""Units by quantity, as `spelt` writes them."""


def spelt(unit: object) -> str:
    """Return a unit in one spelling of its powers: `kg m**-2` and `kg m^-2` are `kg m-2`."""
    return " ".join(str(unit).replace("**", "").replace("^", "").split())
