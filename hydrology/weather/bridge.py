"""Bridges: convert the daily weather of one product to that of another, such as a network's training product.

Two products of the same weather differ by their means, month by month, and by the start of their days: CAMELS' Daymet
assigns to the next day most of what Maurer assigns to this one. Of the forms compared on held-out days
(docs/understand/bridge.md), this one did best: the start of the day is fitted in tenths of a day, precipitation,
radiation and vapour pressure get factors, temperatures get steps, and a month's own correction counts the more, the
more years it was seen in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Day, Period, days_between, month
from hydrology.base.doc import Doc

PRECIPITATION = "precipitation"
SCALED = (PRECIPITATION, "srad", "vp")
MOVED = ("tmax", "tmin")
BRIDGED = (*SCALED, *MOVED)
"""The variables that a bridge converts."""


@dataclass(frozen=True, slots=True)
class DailyWeather:
    """Daily weather of one place, (..., days) by `BRIDGED`, in the units of `WEATHER`; NaN where missing."""

    first: Day
    values: Mapping[str, Array]

    @property
    def period(self) -> Period:
        return Period(self.first, self.first + np.timedelta64(self.values[PRECIPITATION].shape[-1] - 1, "D"))

    @property
    def complete(self) -> Mask:
        """Where no variable is missing, (..., days)."""
        return np.asarray(np.logical_and.reduce([np.isfinite(values) for values in self.values.values()]))

    def over(self, period: Period) -> Self:
        """Return the weather of a period; days that it lacks are NaN."""
        places = np.arange(len(period)) + days_between(self.first, period.first)
        return type(self)(period.first, {name: _at(values, places) for name, values in self.values.items()})


@dataclass(frozen=True, slots=True)
class Corrections:
    """The corrections from the weather of one product to that of another.

    Attributes:
        day_offset: how much earlier the days of the first product begin than those of the other of the same date, in
            days: at 0.8, day t of the other has 20 % of its day t and 80 % of its day t + 1. Above 0 the precipitation
            of a day is known only when the next day is.
        factors, steps: of `SCALED`, and of `MOVED` in degC, from January to December.
        limited: the variables with a month at a limit.
    """

    day_offset: float
    factors: Mapping[str, tuple[float, ...]]
    steps: Mapping[str, tuple[float, ...]]
    limited: tuple[str, ...] = ()

    @property
    def days_after(self) -> int:
        """Number of following days that must be known for a day's precipitation."""
        return max(int(np.ceil(self.day_offset)), 0)

    def apply(self, weather: DailyWeather) -> DailyWeather:
        """Convert weather to the other product.

        A day whose own and neighbouring days are dry stays dry; no value is negative; where tmin would be above tmax,
        both are their mean. Precipitation is NaN where a day that contributes to it is unknown: it is never guessed.
        """
        months = month(weather.period.days) - 1
        values = dict(weather.values)
        values[PRECIPITATION] = shared_out(values[PRECIPITATION], self.day_offset)
        bridged = {name: values[name] * np.array(factors)[months] for name, factors in self.factors.items()}
        bridged |= {name: values[name] + np.array(steps)[months] for name, steps in self.steps.items()}
        crossed = bridged["tmin"] > bridged["tmax"]
        middle = (bridged["tmin"] + bridged["tmax"]) / 2
        return DailyWeather(weather.first, bridged | {name: np.where(crossed, middle, bridged[name]) for name in MOVED})


@dataclass(frozen=True, slots=True)
class Likeness:
    """Agreement of a variable with the other product's."""

    bias: Annotated[float, Doc("Of the mean: relative (0.1 is 10 % too much); for temperatures in °C.")]
    correlation: Annotated[float | None, Doc("Of the daily values; null where one side is constant.")]


@dataclass(frozen=True, slots=True)
class VariableSkill:
    """Agreement of a variable on days not used in fitting."""

    as_it_is: Likeness
    bridged: Likeness


@dataclass(frozen=True, slots=True)
class Skill:
    """Skill of a bridge by cross-validation over water years."""

    days: int
    variables: Mapping[str, VariableSkill]


def shared_out(depth: Array, day_offset: float) -> Array:
    """Distribute daily depths (..., days) over days that begin later by an offset; NaN where one is unknown."""
    whole = int(np.floor(day_offset))
    places, later = np.arange(depth.shape[-1]) + whole, day_offset - whole
    return (1 - later) * _at(depth, places) + later * _at(depth, places + 1) if later else _at(depth, places)


def _at(values: Array, places: Integers) -> Array:
    """Return the values at places of the last axis, NaN outside it."""
    inside = (places >= 0) & (places < values.shape[-1])
    return np.where(inside, values[..., np.where(inside, places, 0)], np.nan)
