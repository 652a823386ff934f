"""Units that a reader has chosen: names and converts amounts and sentences, for pages, mail and plots.

The choice is that of discharge, in the API's names: `m3/s` and `mm/day` go with metric units, `cfs` with US customary.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10

from hydrology.base.units import (
    M2_PER_ACRE,
    M2_PER_KM2,
    M2_PER_SQUARE_MILE,
    M_PER_FT,
    MM_PER_INCH,
    STANDARD,
    Area,
    Units,
    converted,
)

CHOICES: Mapping[Units, str] = {"m3/s": "Metric", "cfs": "US customary", "mm/day": "mm/day"}
"""The systems to choose from, by their unit of discharge; `mm/day` is metric otherwise."""
FLOW: Mapping[Units, str] = {"m3/s": "m³/s", "mm/day": "mm/day", "cfs": "ft³/s"}


_FLOWS: Mapping[str, Units] = {"m³/s": "m3/s", "mm/day of flow": "mm/day"}


@dataclass(frozen=True, slots=True)
class Customary:
    """A US customary unit: its size in the metric one, and its value at that one's zero."""

    name: str
    size: float
    zero: float = 0.0


CUSTOMARY: Mapping[str, Customary] = {
    "million m³": Customary("acre-feet", M2_PER_ACRE * M_PER_FT / 1e6),
    "mm": Customary("in", MM_PER_INCH),
    "mm/day": Customary("in/day", MM_PER_INCH),
    "m": Customary("ft", M_PER_FT),
    "km²": Customary("mi²", M2_PER_SQUARE_MILE / M2_PER_KM2),
    "°C": Customary("°F", 5 / 9, 32),
    "°C of change": Customary("°F", 5 / 9),
}
"""By the metric unit; those of flow stand in `FLOW`."""
_IN_TEXT = re.compile(r"(\d[\d.]*)((?: to | of the )\d[\d.]*)? (million m³|m³/s|mm|km²)(?![/\w])")


def number(value: float, digits: int = 3) -> str:
    """Format a number with three digits, or all before its point: 0.0123, 4.57, 12300."""
    if value == 0:
        return "0"
    places = digits - 1 - floor(log10(abs(value)))
    return f"{round(value, places):.{max(places, 0)}f}"


@dataclass(frozen=True, slots=True)
class UnitSystem:
    """The chosen units, for amounts in metric ones; flow becomes a depth, and a depth flow, only with the `area`."""

    units: Units = STANDARD
    area: Area | None = None

    def name(self, unit: str) -> str:
        """Return the name of the chosen unit in place of a metric one."""
        if unit in _FLOWS:
            return FLOW[self._of_flow(unit)]
        return CUSTOMARY[unit].name if self._is_customary(unit) else unit.partition(" of ")[0]

    def value(self, amount: float, unit: str) -> float:
        """Convert an amount in a metric unit."""
        if unit in _FLOWS:
            return float(converted(amount, unit=_FLOWS[unit], into=self._of_flow(unit), area=self.area))
        return amount / CUSTOMARY[unit].size + CUSTOMARY[unit].zero if self._is_customary(unit) else amount

    def amount(self, amount: float, unit: str) -> str:
        """Format an amount in a metric unit: 12.3 mm is 0.484 in."""
        return f"{number(self.value(amount, unit))} {self.name(unit)}"

    def sentence(self, text: str) -> str:
        """Convert the metric amounts of a text, to as many digits: `20 to 40 mm` is `0.79 to 1.6 in`."""
        return _IN_TEXT.sub(self._replaced, text)

    def _replaced(self, found: re.Match[str]) -> str:
        first, second, unit = found.groups(default="")
        if self.name(unit) == unit:
            return found[0]
        words, _, last = second.rpartition(" ")
        amounts = [
            number(self.value(float(one), unit), len(one.replace(".", "").lstrip("0"))) for one in (first, last) if one
        ]
        return f"{f'{words} '.join(amounts)} {self.name(unit)}"

    def _of_flow(self, unit: str) -> Units:
        is_convertible = self.area is not None or "mm/day" not in (self.units, _FLOWS[unit])
        return self.units if is_convertible else _FLOWS[unit]

    def _is_customary(self, unit: str) -> bool:
        return self.units == "cfs" and unit in CUSTOMARY
