"""Compares observed runoff with precipitation and climate, and recognises values in another unit than labelled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from hydrology.base import units
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, Period, climatic_year, water_year
from hydrology.base.errors import Finding
from hydrology.base.products import IN_DEGREES
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, to_mm_per_day
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration

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


HUMID_RATIOS, DRY_RATIOS = (0.2, 2.5), (0.035, 4.0)
"""Usual runoff over that expected, where precipitation exceeds potential evapotranspiration and elsewhere.

Of the 447 basins of CAMELS-US with extended Maurer's weather: 0.24 to 1.97, and 0.043 to 3.08.
"""
SHORT_RECORD_YEARS, SHORT_RECORD_FACTOR = 10, 3.0
"""Over fewer whole years runoff is usual up to this factor beyond those limits: single years differ from the mean."""
USUAL_RATIO = 0.8
"""Median over the same basins."""
AREA_TOLERANCE = 0.1
"""Largest relative difference between the ratio of two areas and that of two units."""

_FLOW_UNITS = {
    "cubic metres per second": 1.0,
    "cubic feet per second": units.M3_PER_FT3,
    "litres per second": 1e-3,
    "megalitres per day": 1e3 / units.SECONDS_PER_DAY,
    "cubic metres per hour": 1 / 3600,
    "cubic metres per day": 1 / units.SECONDS_PER_DAY,
}
"""m3/s."""
_DEPTH_UNITS = {"millimetres per day": 1.0, "millimetres per hour": 24.0}
"""mm/day."""
_LABELS = {"m3/s": "cubic metres per second", "cfs": "cubic feet per second", "mm/day": "millimetres per day"}
_AREA_UNITS = {
    "square metres": 1 / units.M2_PER_KM2,
    "acres": units.M2_PER_ACRE / units.M2_PER_KM2,
    "hectares": units.M2_PER_HECTARE / units.M2_PER_KM2,
    "square miles": units.M2_PER_SQUARE_MILE / units.M2_PER_KM2,
}
"""km2."""
_MAX_NAMED = 2
FLOW_UNIT, AREA_UNIT = "unit-of-discharge", "unit-of-area"
"""Codes of the findings."""


def flow_findings(product: str, unit: str, forcing: str, area: Area, annual: AnnualRunoff) -> Iterator[Finding]:
    """Find runoff far from what the climate leads to, where another unit of flow or area explains it."""
    ratio, expected = annual.ratio, annual.expected_ratio
    if not ratio or expected is None or annual.aridity is None:
        return
    lowest, highest = HUMID_RATIOS if annual.aridity < 1 else DRY_RATIOS
    margin = SHORT_RECORD_FACTOR if annual.days < SHORT_RECORD_YEARS * MIN_DAYS_OF_YEAR else 1.0
    relative, low, high = ratio / expected, lowest / margin, highest * margin
    if low <= relative <= high:
        return

    def explained(factors: Mapping[str, float]) -> dict[str, float]:
        """Return the factors that make the runoff usual, the likeliest first."""
        distances = {name: abs(log(relative * factor / USUAL_RATIO)) for name, factor in factors.items()}
        usual = [name for name in distances if low <= relative * factors[name] <= high]
        return {name: factors[name] for name in sorted(usual, key=distances.__getitem__)[:_MAX_NAMED]}

    flows = explained(_flow_factors(unit, area))
    areas = explained({name: 1 / km2 for name, km2 in _AREA_UNITS.items()})
    sized = [f"{name} ({1 / factor:.4g} times the number of {unit})" for name, factor in flows.items()]
    looks = [f"its discharge, labelled {unit}, looks like {' or '.join(sized)}"] if flows else []
    looks += [f"its area of {_km2(area.m2)} looks like {' or '.join(areas)}"] if areas else []
    if looks:
        sentence = (
            f"Runoff of {product} over whole water years is {relative:.3g} times what the climate of {forcing} leads "
            f"to: {', or '.join(looks)}. Convert the numbers to {unit}, or the area to km2, and ingest them again."
        )
        detail = {"discharge": product, "precipitation": forcing, "area": area.name, "area_m2": area.m2}
        detail |= {"relative_to_climate": relative, "flow_units": list(flows), "area_units": list(areas)}
        yield Finding(FLOW_UNIT, "warning", sentence, detail)


def _flow_factors(unit: str, area: Area) -> dict[str, float]:
    """Return, by name of another unit, what runoff is multiplied with where the values are in that unit."""
    m3s_per_mm = area.m2 / (units.SECONDS_PER_DAY * units.MM_PER_M)
    m3s = _FLOW_UNITS | {name: mm * m3s_per_mm for name, mm in _DEPTH_UNITS.items()}
    labelled = m3s[_LABELS[unit]]
    return {name: size / labelled for name, size in m3s.items() if name != _LABELS[unit]}


def area_unit(m2: float, reference_m2: float) -> str | None:
    """Return the unit that an area looks like by another area of the basin; None where no unit explains it."""
    for unit, km2 in _AREA_UNITS.items():
        if abs(m2 * km2 / reference_m2 - 1) <= AREA_TOLERANCE:
            return unit
    return None


def area_findings(areas: Mapping[str, float]) -> Iterator[Finding]:
    """Find areas (m2) that look like another unit than km2 beside that of the outline or the gauge's service."""
    for reference in (units.OUTLINE_AREA, units.SERVICE_AREA):
        for name in areas if reference in areas else ():
            if unit := area_unit(areas[name], areas[reference]):
                sentence = (
                    f"The area {name} of {_km2(areas[name])} looks like {unit}: the area {reference} is "
                    f"{_km2(areas[reference])}. Convert it to km2 and give it again."
                )
                detail = {"area": name, "area_m2": areas[name], "beside": reference, "unit": unit}
                yield Finding(AREA_UNIT, "warning", sentence, detail)


def _km2(m2: float) -> str:
    return f"{m2 / units.M2_PER_KM2:.5g} km2"


KELVIN = (180.0, 340.0)
FAHRENHEIT = (40.0, 140.0)
J_PER_M2 = 1e5


def unit_hint(variable: str, values: npt.ArrayLike) -> str:
    """Return a clause that names the likely unit of values outside the limits of `WEATHER`, or nothing."""
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    unit = _unit(variable, float(np.median(known))) if len(known) else None
    return "" if unit is None else f" (the values look like {unit})"


def _unit(variable: str, median: float) -> str | None:
    if variable in IN_DEGREES:
        if KELVIN[0] <= median <= KELVIN[1]:
            return "kelvin"
        return "°F" if FAHRENHEIT[0] <= median <= FAHRENHEIT[1] else None
    if variable == "srad" and median > 0:
        return "J/m2 a day" if median >= J_PER_M2 else None
    return None
