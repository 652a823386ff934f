"""What of an error lasts: how alike the errors of days are that lie a month and a season apart.

The memory of one day (`hydrology.uncertainty.error_model`) tells how an error fades within days. A part of it fades
far more
slowly: too little snow on the ground is too little melt for months. So an error is taken for the sum of two
autoregressions, a quick one and a lasting one, and the lasting one is found where the quick one is forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hydrology.uncertainty.error_model import LEVELS, Array

NEAR, FAR = 30, 90
"""Days apart: after `NEAR` only the lasting part is left, and by how much it is less after `FAR` it fades."""
PRIOR_DAYS = 600
"""So many days of a basin weigh as much as what all basins say of the share: between halves of the validation years
the shares of 447 basins agree as if so."""
MAX_SHARE = 0.9
MAX_MEMORY = 0.995

_NORMAL = NormalDist()
SCORES = np.array([_NORMAL.inv_cdf(level) for level in LEVELS])
"""The value of a standard normal distribution at each of `LEVELS`."""


@dataclass(frozen=True, slots=True)
class Persistence:
    """The part of the errors that lasts.

    Attributes:
        memory: of a day, the same in all basins.
        share: of the errors' variance, of all basins together.
        shares: of each basin.
    """

    memory: float
    share: float
    shares: Array


def persistence(scores: Sequence[Array]) -> Persistence:
    """Return what of the errors of some basins lasts; nothing where days a month or a season apart are not alike.

    Args:
        scores: of each basin the errors of consecutive days as those of a standard normal distribution, (days,), NaN
            where they are not known.
    """
    near, far = (_Products.of(scores, days) for days in (NEAR, FAR))
    variance = sum(float(np.nansum(of_basin**2)) for of_basin in scores)
    days = sum(int(np.isfinite(of_basin).sum()) for of_basin in scores)
    if not variance or near.mean <= 0 or far.mean <= 0:
        return Persistence(0.0, 0.0, np.zeros(len(scores)))
    memory = min((far.mean / near.mean) ** (1 / (FAR - NEAR)), MAX_MEMORY)
    whole = variance / days * memory**NEAR
    own = (near.sums + PRIOR_DAYS * near.mean) / (near.days + PRIOR_DAYS)
    return Persistence(
        memory,
        float(np.clip(near.mean / whole, 0.0, MAX_SHARE)),
        np.clip(own / whole, 0.0, MAX_SHARE),
    )


@dataclass(frozen=True, slots=True)
class _Products:
    """Of each basin the sum of the products of days so many days apart, and how many there are."""

    sums: Array
    days: npt.NDArray[np.int64]

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
