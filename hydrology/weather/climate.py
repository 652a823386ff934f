"""A basin's climate: radiation, potential evapotranspiration, means by calendar month, indices as CAMELS defines them.

Source of the indices: Addor et al. 2017, doi:10.5194/hess-21-5293-2017, table 2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Days, day_of_year, month
from hydrology.base.errors import DataProblem

_SOLAR_CONSTANT = 118.1  # MJ/m2/day: 0.0820 MJ/m2/min
_LATENT_HEAT = 2.45  # MJ/kg
_STEFAN_BOLTZMANN = 4.903e-9  # MJ/K4/m2/day
_KELVIN = 273.16  # as in the source
_ALBEDO = 0.23  # of short grass
_MIN_CLEAR_SKY = 0.1  # MJ/m2/day: a divisor where the sun does not rise


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


def net_radiation(
    radiation: Array, extraterrestrial: Array, tmax: Array, tmin: Array, vapour_pressure: Array, elevation: float
) -> Array:
    """Return the daily net radiation of short grass in MJ/m2/day.

    Radiation on the ground and above the air is in MJ/m2/day, temperatures in degC, vapour pressure in Pa, elevation in
    m; each is (days,).
    Source: Allen et al. 1998 (FAO paper 56), equations 37 to 40.
    """
    clear_sky = np.maximum((0.75 + 2e-5 * elevation) * extraterrestrial, _MIN_CLEAR_SKY)
    cloudiness = 1.35 * np.clip(radiation / clear_sky, 0.3, 1.0) - 0.35
    black_body = _STEFAN_BOLTZMANN * ((tmax + _KELVIN) ** 4 + (tmin + _KELVIN) ** 4) / 2
    outgoing = black_body * (0.34 - 0.14 * np.sqrt(vapour_pressure / 1000)) * cloudiness
    return np.asarray((1 - _ALBEDO) * radiation - outgoing)


def priestley_taylor(net: Array, temperature: Array, elevation: float) -> Array:
    """Return potential evapotranspiration in mm/day from net radiation (MJ/m2/day), mean temperature (degC), elevation.

    1.26 · Δ / (Δ + γ) · Rn / λ, and 0 where the net radiation is negative. CAMELS's `pet_mean` is of this form.
    Source: Priestley and Taylor 1972, doi:10.1175/1520-0493(1972)100<0081:OTAOSH>2.3.CO;2; Δ and γ by Allen et al. 1998
    (FAO paper 56), equations 7, 8 and 13.
    """
    slope = 4098 * saturation_vapour_pressure(temperature) / 1000 / (temperature + 237.3) ** 2
    psychrometric = 0.000665 * 101.3 * ((293 - 0.0065 * elevation) / 293) ** 5.26
    return np.asarray(np.maximum(1.26 * slope / (slope + psychrometric) * net / _LATENT_HEAT, 0.0))


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


MIN_DAYS_OF_MONTH = 50
"""A calendar month with fewer known days has no climate."""
MAX_P_MEAN = 40.0
"""mm/day. The wettest place on Earth has 33: a larger `p_mean` must be in another unit, and is not used."""
_UNKNOWN = np.full(12, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class BasinClimate:
    """Monthly climate of a basin, (12,): mean precipitation in mm/day, median of the daily mean in degC.

    NaN where unknown; the source is as used in sentences: `the stored maurer_extended`.
    """

    source: str
    precipitation: Array
    temperature: Array

    @classmethod
    def of_record(cls, source: str, days: Days, values: Mapping[str, npt.NDArray[np.floating]]) -> Self:
        """Compute it from daily weather, (days,) by variable: precipitation, tmax, tmin."""
        missing = np.full(len(days), np.nan)
        of_month = month(days)
        tmax, tmin = (np.asarray(values.get(name, missing), np.float64) for name in ("tmax", "tmin"))
        rain = np.asarray(values.get("precipitation", missing), np.float64)
        return cls(source, _by_month(rain, of_month, np.mean), _by_month((tmax + tmin) / 2, of_month, np.median))

    @classmethod
    def of_attribute(cls, p_mean: float) -> Self | None:
        """Compute it from the attribute `p_mean`, mean precipitation in mm/day; None where it is impossible."""
        if not 0 < p_mean <= MAX_P_MEAN:
            return None
        return cls("the attribute p_mean", np.full(12, p_mean), _UNKNOWN)


def _by_month(values: Array, months: Integers, statistic: Callable[[Array], np.floating]) -> Array:
    result = np.full(12, np.nan)
    known = ~np.isnan(values)
    for number in range(12):
        those = values[known & (months == number + 1)]
        if len(those) >= MIN_DAYS_OF_MONTH:
            result[number] = statistic(those)
    return result


_DAYS_PER_YEAR = 365.25
_SEASONS = ("djf", "mam", "jja", "son")


@dataclass(frozen=True, slots=True)
class ClimateIndices:
    """Indices named as in camels_clim.txt.

    Means in mm/day; `frac_snow` and `aridity` are ratios; frequencies in days/year, durations in days (0 without such
    days), timings are the season with most of them (None without any).
    """

    p_mean: float
    pet_mean: float
    p_seasonality: float
    frac_snow: float
    aridity: float
    high_prec_freq: float
    high_prec_dur: float
    high_prec_timing: str | None
    low_prec_freq: float
    low_prec_dur: float
    low_prec_timing: str | None


CLIMATE = tuple(field.name for field in fields(ClimateIndices) if not field.name.endswith("_timing"))
"""The numerical indices, which networks take as attributes."""


def climate_indices(precipitation: Array, temperature: Array, pet: Array, days: Days) -> ClimateIndices:
    """Compute the indices from precipitation and PET (mm/day) and mean temperature (degC) of complete series."""
    if not all(np.isfinite(series).all() for series in (precipitation, temperature, pet)):
        raise DataProblem("Climate indices need complete series: choose a period without missing days.")
    mean = float(precipitation.mean()) if len(precipitation) else 0.0
    if mean <= 0:
        raise DataProblem("Climate indices need precipitation: there is none in the period.")
    return ClimateIndices(
        p_mean=mean,
        pet_mean=float(pet.mean()),
        p_seasonality=seasonality(precipitation, temperature, days),
        frac_snow=float(precipitation[temperature < 0].sum() / precipitation.sum()),
        aridity=float(pet.mean()) / mean,
        **_spells("high_prec", precipitation >= 5 * mean, days),
        **_spells("low_prec", precipitation < 1, days),
    )


def seasonality(precipitation: Array, temperature: Array, days: Days) -> float:
    """Return the seasonality of precipitation, above 0 for summer peaks, below 0 for winter peaks.

    δ_P · sgn(Δ_T) · cos(2π (s_P - s_T)), from sine curves fitted to both by least squares.
    Source: Woods 2009, doi:10.1016/j.advwatres.2009.06.011.
    """
    phase = 2 * np.pi * (day_of_year(days) - 1) / _DAYS_PER_YEAR
    basis = np.stack([np.ones_like(phase), np.sin(phase), np.cos(phase)], axis=1)
    p, t = (np.linalg.lstsq(basis, values)[0] for values in (precipitation, temperature))
    swing = float(np.hypot(t[1], t[2]))
    return float(p[1:] @ t[1:]) / (float(p[0]) * swing) if swing > 0 else 0.0


def _spells(name: str, of_kind: Mask, days: Days) -> dict[str, Any]:
    """Return frequency (days/year), mean duration (days) and season of days of a kind, by index."""
    frequency, duration, season = 0.0, 0.0, None
    if of_kind.any():
        spells = int((of_kind & ~np.concatenate([[False], of_kind[:-1]])).sum())
        frequency, duration = float(of_kind.mean()) * _DAYS_PER_YEAR, float(of_kind.sum()) / spells
        season = _SEASONS[int(np.bincount(month(days[of_kind]) % 12 // 3, minlength=4).argmax())]
    return {f"{name}_freq": frequency, f"{name}_dur": duration, f"{name}_timing": season}
