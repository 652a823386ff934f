"""Units that a reader has chosen: names and converts amounts and sentences, for pages, mail and plots.

The choice is that of discharge, in the API's names: `m3/s` and `mm/day` go with metric units, `cfs` with US customary.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, log10

from hydrology.base import units as sizes
from hydrology.base.units import STANDARD, Area, Units, converted

CHOICES: Mapping[Units, str] = {"m3/s": "Metric", "cfs": "US customary", "mm/day": "mm/day"}
"""The systems to choose from, by their unit of discharge; `mm/day` is metric otherwise."""
FLOW: Mapping[str, str] = {"m3/s": "m³/s", "mm/day": "mm/day", "cfs": "ft³/s"}
CHANGE, FLOW_DEPTH = "°C of change", "mm/day of flow"
_FLOWS: Mapping[str, Units] = {"m³/s": "m3/s", FLOW_DEPTH: "mm/day"}
CUSTOMARY: Mapping[str, tuple[str, float, float]] = {
    "million m³": ("acre-feet", sizes.M2_PER_ACRE * sizes.M_PER_FT / 1e6, 0),
    "mm": ("in", sizes.MM_PER_INCH, 0),
    "mm/day": ("in/day", sizes.MM_PER_INCH, 0),
    "m": ("ft", sizes.M_PER_FT, 0),
    "km²": ("mi²", sizes.M2_PER_SQUARE_MILE / sizes.M2_PER_KM2, 0),
    "°C": ("°F", 5 / 9, 32),
    CHANGE: ("°F", 5 / 9, 0),
}
"""By the metric unit: the name of the US customary one, its size, and its value at zero."""
_IN_TEXT = re.compile(r"(\d[\d.]*)((?: to | of the )\d[\d.]*)? (million m³|m³/s|mm|km²|°C(?= warmer| colder))(?![/\w])")


_PLACES: Mapping[str, int] = {"mm": 2, "in": 2, "in/day": 2, "ft": 2, "m": 2}
"""Decimal places that an amount has at most; no gauge measures more. Others have four at most."""


def number(value: float, digits: int = 3, unit: str = "") -> str:
    """Format a number with three digits, or all before its point: 0.0123, 4.57, 12300.

    One that is too small for the decimal places of its unit has fewer digits: 0.0013 mm is 0.00.
    """
    places = 0 if value == 0 else min(digits - 1 - floor(log10(abs(value))), _PLACES.get(unit, 4))
    return f"{round(value, places) + 0.0:.{max(places, 0)}f}"


def depth(millimetres: float) -> str:
    """Format a depth of water: 12.3 mm."""
    return f"{number(millimetres, unit='mm')} mm"


@dataclass(frozen=True, slots=True)
class UnitSystem:
    """The chosen units, for amounts in metric ones; flow becomes a depth, and a depth flow, only with the `area`."""

    units: Units = STANDARD
    area: Area | None = None

    def of(self, area: Area | None) -> "UnitSystem":
        return replace(self, area=area)

    @property
    def flow(self) -> str:
        return FLOW[self.units]

    def name(self, unit: str) -> str:
        """Return the name of the chosen unit in place of a metric one."""
        if unit in _FLOWS:
            return FLOW[self._of_flow(unit)]
        return CUSTOMARY[unit][0] if self._is_customary(unit) else unit.partition(" of ")[0]

    def value(self, amount: float, unit: str) -> float:
        """Convert an amount in a metric unit."""
        if unit in _FLOWS:
            return float(converted(amount, unit=_FLOWS[unit], into=self._of_flow(unit), area=self.area))
        _, size, zero = CUSTOMARY[unit] if self._is_customary(unit) else (unit, 1, 0)
        return amount / size + zero

    def amount(self, amount: float, unit: str) -> str:
        """Format an amount in a metric unit: 12.3 mm is 0.48 in."""
        return f"{self.figures(amount, unit)} {self.name(unit)}"

    def figures(self, amount: float, unit: str) -> str:
        """Format an amount in a metric unit without the unit's name, as in a table."""
        return number(self.value(amount, unit), unit=self.name(unit))

    def sentence(self, text: str) -> str:
        """Convert the metric amounts of a text, to as many digits: `20 to 40 mm` is `0.79 to 1.6 in`."""
        return _IN_TEXT.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        first, second, name = found.groups(default="")
        unit = CHANGE if name in CHANGE else name
        if self.name(unit) == name:
            return found[0]
        words, _, last = second.rpartition(" ")
        digits = [(float(one), len(one.replace(".", "").lstrip("0"))) for one in (first, last) if one]
        into = self.name(unit)
        return f"{f'{words} '.join(number(self.value(n, unit), many, into) for n, many in digits)} {into}"

    def _of_flow(self, unit: str) -> Units:
        is_convertible = self.area is not None or "mm/day" not in (self.units, _FLOWS[unit])
        return self.units if is_convertible else _FLOWS[unit]

    def _is_customary(self, unit: str) -> bool:
        return self.units == "cfs" and unit in CUSTOMARY
