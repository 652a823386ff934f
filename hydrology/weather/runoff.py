"""Compares observed runoff with precipitation and climate, over whole water years."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, Period, climatic_year, water_year
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.weather.evaporation import extraterrestrial_radiation, potential_evapotranspiration

MIN_DAYS_OF_YEAR = 355
"""A water year with fewer known days is not whole: runoff of a part of a year is that of its season."""


def in_whole_water_years(known: Mask, days: Days, latitude: float | None) -> Mask:
    """Return the known days (days,) of water years that have at least `MIN_DAYS_OF_YEAR` of them.

    A water year begins on 1 October, south of the equator on 1 April, when little water is stored. An unknown latitude
    counts as north.
    """
    years = climatic_year(days) if latitude is not None and latitude < 0 else water_year(days)
    _, of_year = np.unique(years, return_inverse=True)
    return known & (np.bincount(of_year, known) >= MIN_DAYS_OF_YEAR)[of_year]


@dataclass(frozen=True, slots=True)
class AnnualRunoff:
    """Observed runoff and weather of the same days, in whole water years: sums in mm.

    `pet_mm`, potential evapotranspiration, is None without temperatures or latitude.
    """

    days: int
    runoff_mm: float
    precipitation_mm: float
    pet_mm: float | None

    @property
    def ratio(self) -> float | None:
        """Runoff over precipitation; None without precipitation."""
        return self.runoff_mm / self.precipitation_mm if self.precipitation_mm > 0 else None

    @property
    def aridity(self) -> float | None:
        """Potential evapotranspiration over precipitation; None where one is unknown or 0."""
        return self.pet_mm / self.precipitation_mm if self.pet_mm and self.precipitation_mm > 0 else None

    @property
    def expected_ratio(self) -> float | None:
        """Runoff over precipitation that the aridity leads to; None where it is unknown or vanishes.

        Source: Budyko 1974, Climate and Life.
        """
        if self.aridity is None:
            return None
        evaporated = np.sqrt(self.aridity * np.tanh(1 / self.aridity) * -np.expm1(-self.aridity))
        return float(1 - evaporated) if evaporated < 1 else None


def annual_runoff(
    discharge: DailySeries, weather: Mapping[str, DailySeries], area: Area, latitude: float | None
) -> AnnualRunoff | Absent | None:
    """Return runoff and weather over whole water years; None where no day has runoff and precipitation."""
    rain = weather["precipitation"]
    period = discharge.period.overlap(rain.period) if len(discharge) and len(rain) else None
    if period is None:
        return None
    runoff = to_mm_per_day(discharge.over(period).values, unit=discharge.unit, area=area)
    fallen = rain.over(period).values.astype(np.float64)
    common = ~np.isnan(runoff) & ~np.isnan(fallen)
    if not common.any():
        return None
    used = in_whole_water_years(common, period.days, latitude)
    if not used.any():
        return absent(Reason.NO_WHOLE_WATER_YEAR, days=MIN_DAYS_OF_YEAR)
    pet = _daily_pet(weather, period, latitude)[used]
    mean_pet = None if np.isnan(pet).all() else float(np.nanmean(pet))
    return AnnualRunoff(
        days=len(pet),
        runoff_mm=float(runoff[used].sum()),
        precipitation_mm=float(fallen[used].sum()),
        pet_mm=None if mean_pet is None else mean_pet * len(pet),
    )


def _daily_pet(weather: Mapping[str, DailySeries], period: Period, latitude: float | None) -> Array:
    """Return potential evapotranspiration in mm/day, (days,); NaN where temperatures or the latitude are unknown."""
    if latitude is None or not {"tmax", "tmin"} <= weather.keys():
        return np.full(len(period), np.nan)
    tmax, tmin = (weather[name].over(period).values.astype(np.float64) for name in ("tmax", "tmin"))
    radiation = extraterrestrial_radiation(period.days, latitude)[:, 0]
    return potential_evapotranspiration((tmax + tmin) / 2, radiation)
