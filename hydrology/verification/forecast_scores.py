"""Scores of each forecast against observations, for distributions and for single flows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.scores.probabilistic import crps, exceedance_probability, pit

Array = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]

HIGH_SHARE = 0.02
"""Share of a period's observed days with the highest flow: the threshold of warnings."""


def high_flow(observed: Array) -> float:
    """Return the flow that 2 % of the days exceed, NaN where not observed."""
    return float(np.nanquantile(observed, 1 - HIGH_SHARE))


@dataclass(frozen=True, slots=True)
class Spread:
    """Scores of a distribution by day: PIT (days, 2) as in `probabilistic.pit`, the others (days,).

    Whether the central intervals contain the observation, and their widths in mm/day.
    """

    pit: Array
    inside_90: Chosen
    inside_50: Chosen
    width_90: Array
    width_50: Array

    @classmethod
    def of(cls, quantiles: Array, levels: Sequence[float], observed: Array) -> Self:
        """Compute it from quantiles (days, levels)."""
        low_90, low_50, high_50, high_90 = (quantiles[:, levels.index(level)] for level in (0.05, 0.25, 0.75, 0.95))
        return cls(
            pit(quantiles, levels, observed),
            (low_90 <= observed) & (observed <= high_90),
            (low_50 <= observed) & (observed <= high_50),
            high_90 - low_90,
            high_50 - low_50,
        )

    def over(self, days: Chosen) -> "Spread":
        """Return it for some of the days."""
        return Spread(*(getattr(self, field.name)[days] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """The scores of each forecast of one forecaster, (days,) each: median and CRPS in mm/day.

    `chance` is that of passing the threshold; `spread` is None where the forecaster gives one flow.
    """

    median: Array
    crps: Array
    chance: Array
    spread: Spread | None

    @classmethod
    def of_quantiles(cls, quantiles: Array, levels: Sequence[float], observed: Array, threshold: float) -> Self:
        """Score quantiles (days, levels) against observations (days,), all in mm/day."""
        return cls(
            quantiles[:, levels.index(0.5)],
            crps(quantiles, levels, observed),
            exceedance_probability(quantiles, levels, threshold),
            Spread.of(quantiles, levels, observed),
        )

    @classmethod
    def of_flow(cls, flow: Array, observed: Array, threshold: float) -> Self:
        """Score one flow per day (days,), whose CRPS is its absolute error."""
        return cls(flow, np.abs(flow - observed), (flow > threshold).astype(float), None)

    def over(self, days: Chosen) -> "ForecastScores":
        """Return it for some of the days."""
        spread = None if self.spread is None else self.spread.over(days)
        return ForecastScores(self.median[days], self.crps[days], self.chance[days], spread)
