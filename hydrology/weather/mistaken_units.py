"""Recognises discharge and drainage areas in another unit than labelled."""

from collections.abc import Iterator, Mapping
from math import log

import numpy as np
import numpy.typing as npt

from hydrology.base.findings import Finding
from hydrology.base.units import (
    M2_PER_ACRE,
    M2_PER_HECTARE,
    M2_PER_KM2,
    M2_PER_SQUARE_MILE,
    M3_PER_FT3,
    MM_PER_M,
    OUTLINE_AREA,
    SECONDS_PER_DAY,
    SERVICE_AREA,
    Area,
)
from hydrology.base.variables import IN_DEGREES
from hydrology.weather.runoff import MIN_DAYS_OF_YEAR, AnnualRunoff

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
    "cubic feet per second": M3_PER_FT3,
    "litres per second": 1e-3,
    "megalitres per day": 1e3 / SECONDS_PER_DAY,
    "cubic metres per hour": 1 / 3600,
    "cubic metres per day": 1 / SECONDS_PER_DAY,
}
"""m3/s."""
_DEPTH_UNITS = {"millimetres per day": 1.0, "millimetres per hour": 24.0}
"""mm/day."""
_LABELS = {"m3/s": "cubic metres per second", "cfs": "cubic feet per second", "mm/day": "millimetres per day"}
_AREA_UNITS = {
    "square metres": 1 / M2_PER_KM2,
    "acres": M2_PER_ACRE / M2_PER_KM2,
    "hectares": M2_PER_HECTARE / M2_PER_KM2,
    "square miles": M2_PER_SQUARE_MILE / M2_PER_KM2,
}
"""km2."""
_MAX_NAMED = 2
FLOW_UNIT, AREA_UNIT = "unit-of-discharge", "unit-of-area"
"""Codes of the findings."""


def flow_findings(product: str, unit: str, forcing: str, area: Area, annual: AnnualRunoff) -> Iterator[Finding]:
    """Find runoff far from what the climate leads to, where another unit of flow or area explains it."""
    ratio, expected, limits = annual.ratio, annual.expected_ratio, _usual_ratios(annual)
    if not ratio or expected is None or limits is None:
        return
    relative, (low, high) = ratio / expected, limits
    if low <= relative <= high:
        return

    def explained(factors: Mapping[str, float]) -> dict[str, float]:
        """Return the factors that make the runoff usual, the likeliest first."""
        distances = {name: abs(log(relative * factor / USUAL_RATIO)) for name, factor in factors.items()}
        usual = [name for name in distances if low <= relative * factors[name] <= high]
        return {name: factors[name] for name in sorted(usual, key=distances.__getitem__)[:_MAX_NAMED]}

    flows = explained(_flow_factors(unit, area))
    areas = explained({name: 1 / km2 for name, km2 in _AREA_UNITS.items()})
    looks = [f"its discharge, labelled {unit}, looks like {' or '.join(_sized(flows, unit))}"] if flows else []
    looks += [f"its area of {_km2(area.m2)} looks like {' or '.join(areas)}"] if areas else []
    if looks:
        sentence = (
            f"Runoff of {product} over whole water years is {relative:.3g} times what the climate of {forcing} leads "
            f"to: {', or '.join(looks)}. Convert the numbers to {unit}, or the area to km2, and ingest them again."
        )
        detail = {"discharge": product, "precipitation": forcing, "area": area.name, "area_m2": area.m2}
        detail |= {"relative_to_climate": relative, "flow_units": list(flows), "area_units": list(areas)}
        yield Finding(FLOW_UNIT, "warning", sentence, detail)


def _usual_ratios(annual: AnnualRunoff) -> tuple[float, float] | None:
    """Return the limits of usual runoff over that expected; None where the climate is unknown."""
    if annual.aridity is None:
        return None
    low, high = HUMID_RATIOS if annual.aridity < 1 else DRY_RATIOS
    factor = SHORT_RECORD_FACTOR if annual.days < SHORT_RECORD_YEARS * MIN_DAYS_OF_YEAR else 1.0
    return low / factor, high * factor


def _flow_factors(unit: str, area: Area) -> dict[str, float]:
    """Return, by name of another unit, what runoff is multiplied with where the values are in that unit."""
    m3s_per_mm = area.m2 / (SECONDS_PER_DAY * MM_PER_M)
    m3s = _FLOW_UNITS | {name: mm * m3s_per_mm for name, mm in _DEPTH_UNITS.items()}
    labelled = m3s[_LABELS[unit]]
    return {name: size / labelled for name, size in m3s.items() if name != _LABELS[unit]}


def _sized(factors: Mapping[str, float], unit: str) -> list[str]:
    return [f"{name} ({1 / factor:.4g} times the number of {unit})" for name, factor in factors.items()]


def area_unit(m2: float, reference_m2: float) -> str | None:
    """Return the unit that an area looks like by another area of the basin; None where no unit explains it."""
    for unit, km2 in _AREA_UNITS.items():
        if abs(m2 * km2 / reference_m2 - 1) <= AREA_TOLERANCE:
            return unit
    return None


def area_findings(areas: Mapping[str, float]) -> Iterator[Finding]:
    """Find areas (m2) that look like another unit than km2 beside that of the outline or the gauge's service."""
    for reference in (OUTLINE_AREA, SERVICE_AREA):
        for name in areas if reference in areas else ():
            if unit := area_unit(areas[name], areas[reference]):
                sentence = (
                    f"The area {name} of {_km2(areas[name])} looks like {unit}: the area {reference} is "
                    f"{_km2(areas[reference])}. Convert it to km2 and give it again."
                )
                detail = {"area": name, "area_m2": areas[name], "beside": reference, "unit": unit}
                yield Finding(AREA_UNIT, "warning", sentence, detail)


def _km2(m2: float) -> str:
    return f"{m2 / M2_PER_KM2:.5g} km2"


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
