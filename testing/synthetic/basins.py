"""Synthetic basins from arid to alpine, with weather, snow, soil and rivers.

No value is measured. They serve to try every part of the product without real data, and with known truth: the water
balance closes, and snow and loss are given.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, Period, day_of_year, water_year
from hydrology.base.errors import InvalidInput
from hydrology.snow import snow17
from hydrology.weather import climate
from hydrology.weather.climate import saturation_vapour_pressure

CLIMATES = ("arid", "semi-arid", "dry", "temperate", "humid", "mixed rain and snow", "snowy", "alpine")
MAX_BASINS = 99


@dataclass(frozen=True, slots=True)
class Landscape:
    """The constant properties; every array has shape (basins,)."""

    wetness: Array  # position between arid (0) and alpine (1), from which the rest follows
    latitude: Array  # degrees
    longitude: Array
    elevation: Array  # m
    area: Array  # m2
    soil_capacity: Array  # mm
    fast_share: Array  # of the water that leaves the soil
    fast_rate: Array  # 1/day
    slow_rate: Array  # 1/day

    @property
    def climates(self) -> list[str]:
        """A short description of each basin's climate."""
        return [CLIMATES[round(w * (len(CLIMATES) - 1))] for w in self.wetness.tolist()]


@dataclass(frozen=True, slots=True)
class Weather:
    """Daily weather, shape (days, basins), rounded as written to files."""

    precipitation: Array  # mm/day
    tmax: Array  # degC
    tmin: Array
    srad: Array  # W/m2, mean over the daylight
    vp: Array  # Pa
    daylength: Array  # s
    pet: Array  # mm/day

    @property
    def temperature(self) -> Array:
        """Daily mean in degC."""
        return (self.tmax + self.tmin) / 2


@dataclass(frozen=True, slots=True)
class SyntheticWater:
    """The true water of every day in mm, shape (days, basins).

    Storage is that at the end of the day. precipitation = discharge + loss + change of storage, for every basin and
    every span of days.
    """

    swe: Array
    rain_plus_melt: Array
    loss: Array  # actual evapotranspiration
    discharge: Array
    soil: Array
    fast: Array  # both reservoirs
    slow: Array
    storage: Array  # all of it: snow, soil and both reservoirs
    storage_before: Array  # shape (basins,)


def landscape(basins: int) -> Landscape:
    """Create basins spread evenly from arid to alpine."""
    if not 1 <= basins <= MAX_BASINS:
        raise InvalidInput(f"{basins} synthetic basins are asked for: choose 1 to {MAX_BASINS}.")
    w = np.linspace(0, 1, basins)
    return Landscape(
        wetness=w,
        latitude=(33 + 13 * w).round(2),
        longitude=(-109 - 5 * w).round(2),
        elevation=_between(w, 400, 800, 2600).round(1),
        area=(_between(w, 900, 600, 250) * 1e6).round(),
        soil_capacity=_between(w, 130, 260, 180),
        fast_share=_between(w, 0.7, 0.5, 0.45),
        fast_rate=_between(w, 0.6, 0.4, 0.3),
        slow_rate=_between(w, 0.05, 0.025, 0.015),
    )


def weather(land: Landscape, period: Period, *, seed: int) -> Weather:
    """Generate random weather: Markov chain of wet and dry days, gamma depths, AR(1) temperature."""
    rng, w, days = np.random.default_rng(seed), land.wetness, period.days
    summer = np.cos(2 * np.pi * (day_of_year(days) - 200) / 365.25)[:, np.newaxis]
    wet = _wet_days(rng, w, summer)
    depth = rng.gamma(0.8, _between(w, 6, 8, 9) / 0.8, size=wet.shape)
    _, year = np.unique(water_year(days), return_inverse=True)
    depth *= rng.lognormal(0, 0.2, size=(int(year.max()) + 1, len(w)))[year]
    precipitation = np.where(wet, depth, 0.0).round(2)

    noise = rng.normal(0, 2.2, size=wet.shape)
    for yesterday, today in pairwise(noise):
        today += 0.8 * yesterday
    mean = _between(w, 17, 12, 2) + _between(w, 10, 10, 11) * summer + noise - 1.5 * wet
    half_range = np.where(wet, 4.0, 7.0) + rng.uniform(-1.5, 1.5, size=wet.shape)
    tmax, tmin = (mean + half_range).round(2), (mean - half_range).round(2)

    radiation = climate.extraterrestrial_radiation(days, land.latitude)
    daylength = climate.daylength(days, land.latitude).round(2)
    clearness = np.where(wet, 0.4, 0.7) + rng.uniform(-0.07, 0.07, size=wet.shape)
    dew_point = tmin - _between(w, 4, 1, 0) * ~wet
    return Weather(
        precipitation,
        tmax,
        tmin,
        srad=(clearness * radiation * 1e6 / daylength).round(2),
        vp=saturation_vapour_pressure(dew_point).round(2),
        daylength=daylength,
        pet=climate.potential_evapotranspiration((tmax + tmin) / 2, radiation),
    )


def water(land: Landscape, sky: Weather, days: Days) -> SyntheticWater:
    """Run the weather through Snow-17 and a soil with a fast and a slow reservoir, conserving water."""
    snow = snow17.snow17(sky.precipitation, sky.temperature, days, elevation=land.elevation)
    soil, fast, slow = 0.4 * land.soil_capacity, np.zeros_like(land.area), np.full_like(land.area, 20.0)
    before = soil + fast + slow
    loss, discharge, soils, fasts, slows = (np.empty_like(sky.pet) for _ in range(5))
    for day in range(len(days)):
        inflow = snow.rain_plus_melt[day]
        # The wetter the soil, the more runs off at once; water beyond its capacity runs off too.
        direct = inflow * (soil / land.soil_capacity) ** 2
        filled = soil + (inflow - direct)
        excess = np.maximum(filled - land.soil_capacity, 0.0)
        filled = filled - excess
        loss[day] = np.minimum(sky.pet[day] * np.minimum(filled / (0.7 * land.soil_capacity), 1.0), filled)
        soil = filled - loss[day]
        leaving = direct + excess
        fast, slow = fast + land.fast_share * leaving, slow + (1 - land.fast_share) * leaving
        quick, base = land.fast_rate * fast, land.slow_rate * slow
        fast, slow = fast - quick, slow - base
        discharge[day] = quick + base
        soils[day], fasts[day], slows[day] = soil, fast, slow
    storage = snow.swe + soils + fasts + slows
    return SyntheticWater(
        swe=snow.swe,
        rain_plus_melt=snow.rain_plus_melt,
        loss=loss,
        discharge=discharge,
        soil=soils,
        fast=fasts,
        slow=slows,
        storage=storage,
        storage_before=before,
    )


def _wet_days(rng: np.random.Generator, w: Array, summer: Array) -> Mask:
    """Draw wet days from a two-state chain: arid basins have summer rain, alpine ones winter precipitation."""
    start = np.clip(_between(w, 0.10, 0.26, 0.30) * (1 + _between(w, 0.5, 0.0, -0.4) * summer), 0, 1)
    stay = _between(w, 0.4, 0.55, 0.6)
    draws = rng.uniform(size=start.shape)
    wet = np.zeros(start.shape, dtype=bool)
    today = np.zeros(len(w), dtype=bool)
    for day in range(len(draws)):
        today = draws[day] < np.where(today, stay, start[day])
        wet[day] = today
    return wet


def _between(w: Array, arid: float, temperate: float, alpine: float) -> Array:
    return np.interp(w, [0, 0.45, 1], [arid, temperate, alpine])
