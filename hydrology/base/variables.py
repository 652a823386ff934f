"""The daily quantities of user data and feeds: names, units and possible ranges."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of a series: its name, stored unit and possible range.

    The ranges are wide: they only prevent that a sentinel (-999) or another unit (kelvin) is taken for weather.
    """

    variable: str
    unit: str
    lowest: float
    highest: float

    @property
    def column(self) -> str:
        """The name of its column in a table: variable and unit, e.g. `precipitation_mm_per_day`."""
        return f"{self.variable}_{self.unit.replace('/', '_per_')}"


DISCHARGE = "discharge"

WEATHER: Mapping[str, Quantity] = {
    quantity.variable: quantity
    for quantity in (
        Quantity("precipitation", "mm/day", 0, 2_000),
        Quantity("tmax", "degC", -100, 70),
        Quantity("tmin", "degC", -100, 70),
        Quantity("tmean", "degC", -100, 70),
        Quantity("srad", "W/m2", 0, 1_500),
        Quantity("vp", "Pa", 0, 10_000),
        Quantity("daylength", "s", 0, 86_400),
        Quantity("pet", "mm/day", -100, 1_000),
    )
}
"""Quantities of weather forecasts, by variable."""
IN_DEGREES = tuple(name for name, quantity in WEATHER.items() if quantity.unit == "degC")

OBSERVED = (
    *WEATHER.values(),
    Quantity("swe", "mm", 0, 20_000),
    Quantity(DISCHARGE, "m3/s", 0, 1e6),
    Quantity(DISCHARGE, "cfs", 0, 4e7),
    Quantity(DISCHARGE, "mm/day", 0, 10_000),
)
"""Observable quantities, with discharge in any of its units."""
