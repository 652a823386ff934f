"""A change with its parts, and its description in a sentence by fixed rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from app.forecasts.words import UNITS, number, on, signed
from hydrology.attribution import PARTS, whole_change
from hydrology.base.calendar import as_date, day
from hydrology.base.units import Units
from records.runs.run_summary import RunChange

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Split:
    """A change and its parts (orders, parts, days), in the unit of the answer, with the flow of the run."""

    found: RunChange
    after: Array
    parts: Array

    @property
    def change(self) -> Array:
        """The whole change, (days,)."""
        return whole_change(self.parts)


WORTH_NAMING = 0.05
"""Parts smaller than this share of the largest one are not named."""


def change_in_words(split: Split, days: Sequence[date], units: Units) -> str:
    """Describe the largest change of any day, and its parts from the largest on."""
    change, since = split.change, on(as_date(day(split.found.t0)))
    at = int(np.abs(change).argmax())
    if number(abs(float(change[at]))) == "0":
        return f"Nothing changed since the forecast of {since}."
    after, before = float(split.after[at]), float(split.after[at] - change[at])
    of_day = f"{days[at]:%A} {on(days[at])}"
    sentence = (
        f"{signed(float(change[at]))} {UNITS[units]} on {of_day} since the forecast of {since}, from "
        f"{number(before)} to {number(after)}"
    )
    parts = {name: float(value) for name, value in zip(PARTS, split.parts[0, :, at], strict=True) if value == value}
    largest = max(map(abs, parts.values()))
    named = sorted(
        (name for name in parts if abs(parts[name]) >= WORTH_NAMING * largest), key=lambda one: -abs(parts[one])
    )
    return f"{sentence}: {', '.join(_part(name, parts[name], split.found, days[-1]) for name in named)}."


def _part(name: str, value: float, found: RunChange, last: date) -> str:
    return f"{signed(value)} {_cause(name, value, found, last)}"


def _cause(name: str, value: float, found: RunChange, last: date) -> str:
    if name == "observed_weather":
        fell = f"({number(found.observed_mm)} mm of precipitation, {number(found.expected_mm)} mm expected)"
        return f"{_because(value, found.observed_mm - found.expected_mm, 'fell', 'the observed weather')} {fell}"
    if name == "weather_forecast":
        amounts = f"{number(found.ahead_mm)} mm by {on(last)}, {number(found.ahead_before_mm)} mm before"
        more = found.ahead_mm - found.ahead_before_mm
        return f"{_because(value, more, 'is forecast', 'the new weather forecast')} ({amounts})"
    return {
        "revised_data": "from revised weather data",
        "model_version": "from another model version"
        if not found.products_before
        else f"from other weather products ({' and '.join(found.products_before)} before)",
        "observed_flow": "from the last observed flow and past errors",
    }[name]


def _because(value: float, more: float, verb: str, otherwise: str) -> str:
    if value * more <= 0:
        return f"from {otherwise}"
    return f"because {'more' if more > 0 else 'less'} rain or snow {verb}"
