"""Exceedance probability, from daily quantiles and from temporally consistent paths."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.scores.probabilistic import exceedance_probability
from hydrology.uncertainty.weighted import weighted_mean

Direction = Literal["rising", "falling"]
"""Direction of passing a level: upwards for a flood, downwards for a low flow."""


@dataclass(frozen=True, slots=True)
class FlowAhead:
    """A distribution of flow over the days ahead, in any unit: quantiles (levels, leads), paths (paths, leads).

    Weights of the paths have the sum 1; None where they are equally likely.
    """

    levels: tuple[float, ...]
    quantiles: Array
    paths: Array
    weights: Array | None = None

    @property
    def median(self) -> Array:
        """The median of each day, (leads,)."""
        return np.asarray(self.quantiles[self.levels.index(0.5)])

    def within(self, days: int) -> "FlowAhead":
        """Return its first days."""
        return self._of_days(slice(days))

    def after(self, days: int) -> "FlowAhead":
        """Return it without its first days."""
        return self._of_days(slice(days, None))

    def known(self) -> "FlowAhead":
        """Return the days whose flow is known: a shift in time leaves others without."""
        return self._of_days(np.asarray(np.isfinite(self.quantiles).all(axis=0)))

    def chances(self, level: float, direction: Direction) -> tuple[Array, float]:
        """Return the probability of passing a level on each day, (leads,), and on any; never below a level of 0."""
        if direction == "falling" and level <= 0:  # 1 - above would count the dry days, which are at the level
            return np.zeros(self.quantiles.shape[1]), 0.0
        above = exceedance_probability(self.quantiles.T, self.levels, level)
        of_days = above if direction == "rising" else 1 - above
        passed = self.paths > level if direction == "rising" else self.paths < level
        return of_days, max(float(weighted_mean(np.asarray(passed.any(axis=1)), self.weights)), float(of_days.max()))

    def _of_days(self, days: slice | Mask) -> "FlowAhead":
        return replace(self, quantiles=self.quantiles[:, days], paths=self.paths[:, days])


@dataclass(frozen=True, slots=True)
class FlowAdjustment:
    """A factor of a forecast flow and a shift to later days (earlier if negative), for all its quantiles and paths.

    `moves` are what is added to the cube root of each day's flow, (mm/day)^(1/3), and the factor of it before; None for
    neither.
    """

    factor: float = 1.0
    shift_days: int = 0
    moves: Sequence[Sequence[float]] | None = None

    def adjusted(self, flow: Array) -> Array:
        """Return flow (..., leads) in mm/day adjusted; NaN on the days that no day's flow is moved to."""
        moved = np.full(flow.shape, np.nan)
        days = self.shift_days
        if days >= 0:
            moved[..., days:] = flow[..., : flow.shape[-1] - days]
        else:
            moved[..., :days] = flow[..., -days:]
        if self.moves is None:
            return self.factor * moved
        offset, scale = np.asarray(self.moves)
        return np.asarray(np.maximum(offset + scale * np.cbrt(self.factor * moved), 0.0) ** 3)

    def adjusted_ahead(self, flow: FlowAhead) -> FlowAhead:
        """Return the flow of the days ahead adjusted, with NaN as `adjusted`."""
        return replace(flow, quantiles=self.adjusted(flow.quantiles), paths=self.adjusted(flow.paths))
