"""The distribution of flow on the days ahead, by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.uncertainty.weighted import weighted_mean

FlowBasis = Literal["calibrated", "members"]
"""Origin of a distribution: `calibrated` by the version's error model, or the `members` with every trace of weather."""
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Levels of the quantiles."""
MEDIAN = LEVELS.index(0.5)
DIGITS = 9
"""Significant digits: those that float32 needs."""
Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysAhead:
    """The distribution by lead (days after T0), mm/day; None on days that an adjustment moves no flow to.

    Quantiles have a row for each of `LEVELS`.
    """

    leads: tuple[int, ...]
    mean: Values
    quantiles: tuple[Values, ...]

    @property
    def median(self) -> Values:
        return self.quantiles[MEDIAN]


def days_ahead(flow: FlowAhead, leads: Sequence[int]) -> DaysAhead:
    """Return the distribution of flow (mm/day) by day."""
    rows = flow.quantiles[[flow.levels.index(level) for level in LEVELS]]
    mean = weighted_mean(flow.paths, flow.weights)
    return DaysAhead(leads=tuple(leads), mean=_values(mean), quantiles=tuple(_values(row) for row in rows))


def _values(row: Array) -> Values:
    return tuple(None if np.isnan(value) else shortened(value) for value in row.tolist())


def shortened(value: float) -> float:
    """Return a number as it is stored, with `DIGITS`."""
    return float(f"{value:.{DIGITS}g}")
