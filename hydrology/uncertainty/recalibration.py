"""Recalibrates the distributions of forecasts by what came after the past ones.

The score of an observed flow is its non-exceedance probability in the forecast distribution, as a value of a standard
normal distribution. Forecasts whose probabilities are right have scores with mean 0 and standard deviation 1 (the flat
rank histogram of Hamill and Colucci 1997, doi:10.1175/1520-0493(1997)125<1312:VOEREF>2.0.CO;2, who correct forecasts by
theirs). Where past scores have the mean c and the standard deviation s, the recalibrated quantile at the level of score
z is the quantile at the level of c + s z. Both are the same in all basins, and differ by lead; with few past issue days
they are near those of `PRIOR_SPREAD`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.error_paths import SCORES

PRIOR_ISSUE_DAYS = 90
"""Weight of what is assumed before any has come, in issue days: a season."""
PRIOR_SPREAD = 0.88
"""The standard deviation of scores that is assumed, with the mean 0. The errors of simulations contain some of those of
the weather, so traces around a forecast make its distribution too wide: by this much in the validation years, with
errors of three sizes (docs/understand/uncertainty.md)."""
DRY = 0.05
"""A level: where the flows up to it are equal, the river is often dry."""
_BEYOND = 0.32
"""Distance of the mean score beyond the last level from the score of that level."""


def weight_of(issue_days: int) -> float:
    """Return the weight of the scores of some issue days, against what is assumed."""
    return issue_days / (issue_days + PRIOR_ISSUE_DAYS)


@dataclass(frozen=True, slots=True, eq=False)
class Recalibration:
    """The mean and the standard deviation of past scores, (leads,); longer leads have those of the last."""

    centre: Array
    spread: Array

    @classmethod
    def fit(cls, scores: Sequence[Array]) -> Self:
        """Fit them to the scores of issue days, (basins, leads) each, NaN where unknown.

        Basins of one issue day count as one: their errors are alike.
        """
        leads = max(of_day.shape[1] for of_day in scores)
        padded = [np.pad(of_day, ((0, 0), (0, leads - of_day.shape[1])), constant_values=np.nan) for of_day in scores]
        known = np.stack([np.isfinite(of_day).any(axis=0) for of_day in padded]).sum(axis=0)
        centre = sum(map(_mean, padded)) / (known + PRIOR_ISSUE_DAYS)
        squares = sum(_mean((of_day - centre) ** 2) for of_day in padded)
        return cls(centre, np.sqrt((PRIOR_ISSUE_DAYS * PRIOR_SPREAD**2 + squares) / (known + PRIOR_ISSUE_DAYS)))

    def apply(self, quantiles: Array) -> Array:
        """Return recalibrated quantiles of flow, (leads, `LEVELS`)."""
        centre, spread = (of[:, np.newaxis] for of in self._over(len(quantiles)))
        wanted = centre + spread * SCORES
        upper = np.clip(np.searchsorted(SCORES, wanted), 1, len(SCORES) - 1)
        across = (wanted - SCORES[upper - 1]) / (SCORES[upper] - SCORES[upper - 1])
        low, high = (np.take_along_axis(quantiles, at, axis=1) for at in (upper - 1, upper))
        within = np.maximum(low + across * (high - low), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            above = high * (high / low) ** (across - 1)  # flow is skewed: its logarithm goes on
        return np.asarray(np.where((across > 1) & (low > 0), above, within))

    def undo(self, scores: Array) -> Array:
        """Return the scores (..., leads) in the distributions that were recalibrated."""
        centre, spread = self._over(scores.shape[-1])
        return np.asarray(centre + spread * scores)

    def _over(self, leads: int) -> tuple[Array, Array]:
        at = np.minimum(np.arange(leads), len(self.centre) - 1)
        return self.centre[at], self.spread[at]


def _mean(scores: Array) -> Array:
    known = np.isfinite(scores)
    return np.asarray(np.where(known, scores, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def scores_of(quantiles: Array, observed: Array) -> Array:
    """Return the scores of observed flows (days,) in distributions (days, `LEVELS`), NaN where not observed.

    They are NaN, too, where the distribution holds no flow up to `DRY` and beyond: the score of a dry day is not one.
    """
    below = (quantiles < observed[:, np.newaxis]).sum(axis=1)
    upper = np.clip(below, 1, len(SCORES) - 1)
    low, high = (np.take_along_axis(quantiles, at[:, np.newaxis], axis=1)[:, 0] for at in (upper - 1, upper))
    with np.errstate(invalid="ignore", divide="ignore"):
        between = SCORES[upper - 1] + (observed - low) / (high - low) * (SCORES[upper] - SCORES[upper - 1])
    between = np.where(below == 0, SCORES[0] - _BEYOND, np.where(below == len(SCORES), SCORES[-1] + _BEYOND, between))
    dry = quantiles[:, LEVELS.index(DRY)] <= quantiles[:, 0]
    return np.where(np.isfinite(observed) & ~dry, between, np.nan)
