"""Radiation, day length and potential evapotranspiration from latitude, day of year and temperature."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, day_of_year

_SOLAR_CONSTANT = 118.1  # MJ/m2/day: 0.0820 MJ/m2/min
_LATENT_HEAT = 2.45  # MJ/kg


def daylength(days: Days, latitude: npt.ArrayLike) -> Array:
    """Return the time between sunrise and sunset in s, shape (days, basins) for latitudes (basins,) in degrees.

    Source: Allen et al. 1998 (FAO paper 56), equations 24, 25 and 34.
    """
    _, sunset, _ = _geometry(days, latitude)
    return sunset / np.pi * 86_400


def extraterrestrial_radiation(days: Days, latitude: npt.ArrayLike) -> Array:
    """Return the daily radiation above the air in MJ/m2/day, shape (days, basins) for latitudes in degrees.

    Source: Allen et al. 1998 (FAO paper 56), equations 21 to 25.
    """
    declination, sunset, phi = _geometry(days, latitude)
    distance = 1 + 0.033 * np.cos(2 * np.pi / 365 * day_of_year(days))[:, np.newaxis]
    height = sunset * np.sin(phi) * np.sin(declination) + np.cos(phi) * np.cos(declination) * np.sin(sunset)
    return np.asarray(_SOLAR_CONSTANT / np.pi * distance * height)


def potential_evapotranspiration(temperature: npt.ArrayLike, radiation: npt.ArrayLike) -> Array:
    """Return potential evapotranspiration in mm/day from temperature (degC) and radiation (MJ/m2/day).

    R / λ · (T + 5) / 100, and 0 below -5 degC.
    Source: Oudin et al. 2005, doi:10.1016/j.jhydrol.2004.08.026.
    """
    t, r = np.asarray(temperature, dtype=np.float64), np.asarray(radiation, dtype=np.float64)
    return np.maximum(r / _LATENT_HEAT * (t + 5) / 100, 0.0)


def _geometry(days: Days, latitude: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Return solar declination (days, 1), sunset hour angle (days, basins) and latitude (basins,), in radians."""
    phi = np.radians(np.atleast_1d(np.asarray(latitude, dtype=np.float64)))
    declination = 0.409 * np.sin(2 * np.pi / 365 * day_of_year(days) - 1.39)[:, np.newaxis]
    # The clip applies beyond the polar circles, where the sun does not set or does not rise.
    sunset: Array = np.arccos(np.clip(-np.tan(phi) * np.tan(declination), -1, 1))
    return declination, sunset, phi


def saturation_vapour_pressure(temperature: npt.ArrayLike) -> Array:
    """Return the saturation vapour pressure over water in Pa, from air temperatures in degC of any shape.

    610.8 · exp(17.27 T / (T + 237.3)), Tetens' form of the Magnus equation. At its dew point it is the air's vapour
    pressure. NaN stays NaN.
    Source: Tetens 1930, as Allen et al. 1998 (FAO paper 56) give it, equations 11 and 14.
    """
    t = np.asarray(temperature, dtype=np.float64)
    return np.asarray(610.8 * np.exp(17.27 * t / (t + 237.3)))
