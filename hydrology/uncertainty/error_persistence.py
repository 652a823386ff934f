"""The persistent part of errors: their correlation a month and a season apart.

The memory of one day (`hydrology.uncertainty.error_model`) describes how an error fades within days. A part of it fades
far more slowly: too little snow on the ground means too little melt for months. So an error is modelled as the sum of
two autoregressions, a quick and a lasting one, and the lasting one is estimated where the quick one is forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hydrology.base.arrays import Array, Integers
from hydrology.uncertainty.error_model import LEVELS

NEAR, FAR = 30, 90
"""Lags in days: after `NEAR` only the lasting part is left, and its decrease until `FAR` gives its memory."""
PRIOR_DAYS = 600
"""Weight of the regional share, in days of a basin: estimated from the agreement between halves of the validation years
in 447 basins."""
MAX_SHARE = 0.9
MAX_MEMORY = 0.995

_NORMAL = NormalDist()
SCORES = np.array([_NORMAL.inv_cdf(level) for level in LEVELS])
"""The value of a standard normal distribution at each of `LEVELS`."""


@dataclass(frozen=True, slots=True)
class Persistence:
    """The lasting part: memory of one day, alike in all basins; share of the variance, of all and by basin."""

    memory: float
    share: float
    shares: Array


def persistence(scores: Sequence[Array]) -> Persistence:
    """Estimate the persistent part of basins' errors; zero without correlation at a month or a season.

    Scores are the errors of consecutive days, transformed to standard normal, (days,), NaN where unknown.
    """
    near, far = (_Products.of(scores, days) for days in (NEAR, FAR))
    variance = sum(float(np.nansum(of_basin**2)) for of_basin in scores)
    days = sum(int(np.isfinite(of_basin).sum()) for of_basin in scores)
    if not variance or near.mean <= 0 or far.mean <= 0:
        return Persistence(0.0, 0.0, np.zeros(len(scores)))
    memory = min((far.mean / near.mean) ** (1 / (FAR - NEAR)), MAX_MEMORY)
    whole = variance / days * memory**NEAR
    own = (near.sums + PRIOR_DAYS * near.mean) / (near.days + PRIOR_DAYS)
    return Persistence(memory, float(np.clip(near.mean / whole, 0.0, MAX_SHARE)), np.clip(own / whole, 0.0, MAX_SHARE))


@dataclass(frozen=True, slots=True)
class _Products:
    """By basin, the sum of products of days at a given lag, and their number."""

    sums: Array
    days: Integers

    @classmethod
    def of(cls, scores: Sequence[Array], apart: int) -> "_Products":
        products = [of_basin[apart:] * of_basin[:-apart] for of_basin in scores]
        return cls(
            np.array([float(np.nansum(of_basin)) for of_basin in products]),
            np.array([int(np.isfinite(of_basin).sum()) for of_basin in products]),
        )

    @property
    def mean(self) -> float:
        return float(self.sums.sum() / max(self.days.sum(), 1))
