"""Exceedance probability, from daily quantiles and from temporally consistent paths."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hydrology.base.arrays import Array
from hydrology.scores.probabilistic import exceedance_probability

Direction = Literal["rising", "falling"]
"""Direction of passing a level: upwards for a flood, downwards for a low flow."""


@dataclass(frozen=True, slots=True)
class FlowAhead:
    """Calibrated flow of the days ahead, in any unit.

    Attributes:
        levels: of the quantiles, increasing.
        quantiles: (levels, leads).
        paths: equally likely paths, (paths, leads).
    """

    levels: tuple[float, ...]
    quantiles: Array
    paths: Array

    def within(self, days: int) -> "FlowAhead":
        """Return its first days."""
        return FlowAhead(self.levels, self.quantiles[:, :days], self.paths[:, :days])

    def after(self, days: int) -> "FlowAhead":
        """Return it without its first days."""
        return FlowAhead(self.levels, self.quantiles[:, days:], self.paths[:, days:])

    def known(self) -> "FlowAhead":
        """Return the days whose flow is known: a shift in time leaves others without."""
        days = np.isfinite(self.quantiles).all(axis=0)
        return FlowAhead(self.levels, self.quantiles[:, days], self.paths[:, days])

    def chances(self, level: float, direction: Direction) -> tuple[Array, float]:
        """Return the probability of passing a level on each day, (leads,), and on any of them (at least the daily
        maximum).

        Flow never falls below a level of 0."""
        if direction == "falling" and level <= 0:  # 1 - above would count the dry days, which are at the level
            return np.zeros(self.quantiles.shape[1]), 0.0
        above = exceedance_probability(self.quantiles.T, self.levels, level)
        of_days = above if direction == "rising" else 1 - above
        passed = self.paths > level if direction == "rising" else self.paths < level
        return of_days, max(float(passed.any(axis=1).mean()), float(of_days.max()))
