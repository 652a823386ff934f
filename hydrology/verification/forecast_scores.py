"""What each forecast of a forecaster is worth, by what was observed: of a distribution of flow, or of one flow."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.scores.probabilistic import crps, exceedance_probability, pit

Array = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]

HIGH_SHARE = 0.02
"""Of a period's observed days, the highest: what a warning is for begins with their flow."""


def high_flow(observed: Array) -> float:
    """Return the flow from which on a day is among the highest 2 % of some days, NaN where not observed."""
    return float(np.nanquantile(observed, 1 - HIGH_SHARE))


@dataclass(frozen=True, slots=True)
class Spread:
    """What a distribution says of each day: PIT (days, 2) as in `probabilistic.pit`, the others (days,).

    Attributes:
        inside_90, inside_50: whether the central interval holds what was observed.
        width_90, width_50: of that interval, mm/day.
    """

    pit: Array
    inside_90: Chosen
    inside_50: Chosen
    width_90: Array
    width_50: Array

    @classmethod
    def of(cls, quantiles: Array, levels: Sequence[float], observed: Array) -> Self:
        """Return it from quantiles (days, levels)."""
        low_90, low_50, high_50, high_90 = (quantiles[:, levels.index(level)] for level in (0.05, 0.25, 0.75, 0.95))
        return cls(
            pit(quantiles, levels, observed),
            (low_90 <= observed) & (observed <= high_90),
            (low_50 <= observed) & (observed <= high_50),
            high_90 - low_90,
            high_50 - low_50,
        )

    def over(self, days: Chosen) -> "Spread":
        """Return it over some of the days."""
        return Spread(*(getattr(self, field.name)[days] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """What each forecast of one forecaster is worth, (days,) each.

    Attributes:
        median: mm/day.
        crps: continuous ranked probability score, mm/day.
        chance: of passing the threshold.
        spread: None where the forecaster names one flow and no distribution.
    """

    median: Array
    crps: Array
    chance: Array
    spread: Spread | None

    @classmethod
    def of_quantiles(cls, quantiles: Array, levels: Sequence[float], observed: Array, threshold: float) -> Self:
        """Judge quantiles (days, levels) by what was observed (days,), all in mm/day."""
        return cls(
            quantiles[:, levels.index(0.5)],
            crps(quantiles, levels, observed),
            exceedance_probability(quantiles, levels, threshold),
            Spread.of(quantiles, levels, observed),
        )

    @classmethod
    def of_flow(cls, flow: Array, observed: Array, threshold: float) -> Self:
        """Judge one flow a day (days,): the CRPS of a certain forecast is its distance."""
        return cls(flow, np.abs(flow - observed), (flow >= threshold).astype(float), None)

    def over(self, days: Chosen) -> "ForecastScores":
        """Return it over some of the days."""
        spread = None if self.spread is None else self.spread.over(days)
        return ForecastScores(self.median[days], self.crps[days], self.chance[days], spread)
