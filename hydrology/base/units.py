"""Converts discharge and weather between units.

The area of a basin differs between sources (by more than 10 % in some), so a depth is meaningful only with the name of
its area: `Area` holds both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.errors import InvalidInput

Units = Literal["m3/s", "mm/day", "cfs"]
"""The units of discharge."""
ObservedUnits = Literal["m3/s", "mm/day", "cfs", "source"]
"""Units of observed discharge; `source` leaves it in its stored unit."""
STANDARD: Units = "m3/s"
"""The default unit of reported discharge."""

M_PER_FT, MM_PER_INCH = 0.3048, 25.4  # exact
M3_PER_FT3 = 0.028316846592  # exact: 0.3048 ** 3
SECONDS_PER_DAY = 86_400
MM_PER_M = 1_000
M2_PER_KM2 = 1e6
M2_PER_SQUARE_MILE = 2_589_988.110336  # exact: 1609.344 ** 2
M2_PER_ACRE = 4_046.8564224  # exact: a 640th of a square mile
M2_PER_HECTARE = 1e4
MAX_AREA_KM2 = 1e7
"""Larger than the largest river basin on Earth, the Amazon's of 6 to 7 million km2."""
J_PER_MJ = 1_000_000


class NoArea(InvalidInput):
    """The run names no drainage area, so its depths cannot be given as flows."""


@dataclass(frozen=True, slots=True)
class Area:
    """A drainage area in m2, and the name of its source (`maurer_extended`, `area_gages2`)."""

    name: str
    m2: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.m2) and self.m2 > 0):
            raise InvalidInput(
                f"The drainage area {self.name!r} is {self.m2} m2, which must be a positive number: "
                "correct it at its source or name another area."
            )


GIVEN_AREA, SERVICE_AREA = "given", "usgs"
"""Names of a basin's area: given by an operator, and published by its gauge's service."""
OUTLINE_AREA = "outline"
"""Name of the area of a basin's outline. Discharge is not converted with it unless it is named."""


AREA_ATTRIBUTES = ("area_gages2", "area_km2")
"""A basin's drainage area in km2, by the names of the attributes that networks take."""


def area_by(areas: Mapping[str, float], products: Sequence[str]) -> Area | None:
    """Return the area for converting a basin's discharge, from m2 by name; None where it has none.

    The first found among: the area of the given weather products, in their order (a version learnt with it); the one
    given by an operator; the one published by the gauge's service.
    """
    name = next((name for name in (*products, GIVEN_AREA, SERVICE_AREA) if name in areas), None)
    return None if name is None else Area(name, areas[name])


def only_area(areas: Mapping[str, float]) -> Area | None:
    """Return the area of a basin where no weather product is named: that of a product, given, or of the service.

    Areas that are attributes of the land (`area_...`) come last of the products': no version converts flow with them.
    """
    named = areas.keys() - {GIVEN_AREA, SERVICE_AREA, OUTLINE_AREA}
    return area_by(areas, sorted(named, key=lambda name: (name.startswith("area_"), name)))


def to_mm_per_day(discharge: npt.ArrayLike, *, unit: str, area: Area) -> Array:
    """Convert discharge in `cfs`, `m3/s` or `mm/day` to millimetres per day over an area, any shape."""
    return converted(discharge, unit=unit, into="mm/day", area=area)


def mm_per_day_to_m3s(discharge: npt.ArrayLike, *, area: Area) -> Array:
    """Convert millimetres per day over an area to cubic metres per second, any shape."""
    return converted(discharge, unit="mm/day", into="m3/s", area=area)


def observed_unit(units: ObservedUnits | None) -> Units | None:
    """Return the unit to convert observed discharge to: m3/s by default, None for the stored one."""
    return None if units == "source" else units or STANDARD


def converted(discharge: npt.ArrayLike, *, unit: str, into: str, area: Area | None) -> Array:
    """Convert discharge between `cfs`, `m3/s` and `mm/day` (a depth needs its area), any shape; NaN stays NaN."""
    flow = np.asarray(discharge, dtype=np.float64)
    if unit == into:
        return flow
    for name in (unit, into):
        if name not in get_args(Units):
            raise InvalidInput(f"{name!r} is not a unit of discharge: use cfs, m3/s or mm/day.")
    if "mm/day" in (unit, into) and area is None:
        raise InvalidInput(f"Between {unit} and {into} an area is needed: name one.")
    if unit == "cfs":
        flow = flow * M3_PER_FT3
    elif area is not None and unit == "mm/day":
        flow = flow * (area.m2 / (SECONDS_PER_DAY * MM_PER_M))
    if into == "cfs":
        return flow / M3_PER_FT3
    return flow * (SECONDS_PER_DAY * MM_PER_M / area.m2) if area is not None and into == "mm/day" else flow


def daylight_mean(radiation: npt.ArrayLike, daylength: npt.ArrayLike) -> Array:
    """Convert a daily radiation sum in MJ/m2 to the mean over daylight (s) in W/m2, any shape.

    NaN stays NaN; a day without daylight has 0. CAMELS gives this mean, most services the sum or the 24-hour mean.
    """
    joules, seconds = np.asarray(radiation, dtype=np.float64) * J_PER_MJ, np.asarray(daylength, dtype=np.float64)
    without_light = np.where(np.isnan(joules), joules, 0)
    return np.asarray(np.where(seconds > 0, joules / np.where(seconds > 0, seconds, 1), without_light))
