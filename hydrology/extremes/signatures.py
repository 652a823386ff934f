"""Signatures of a river: mean flow, flow duration and floods; and estimates of them where there is no gauge.

A simulation alone errs in each signature by a factor. How large such factors are is known from basins that its members
had not learnt from, and they differ between dry and wet basins: the estimate is the simulation times the median factor
of basins with as much runoff of their precipitation, its range holds nine in ten of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days
from hydrology.extremes import frequency
from hydrology.extremes.annual import annual_maxima
from hydrology.extremes.frequency import Gev

EXCEEDED_PERCENT = (5, 10, 20, 50, 70, 90, 95)
FLOOD_YEARS = (2, 10)
MEAN, RUNOFF_RATIO = "mean", "runoff-ratio"
EXCEEDED = tuple(f"exceeded-{percent}" for percent in EXCEEDED_PERCENT)
FLOODS = tuple(f"flood-{years}" for years in FLOOD_YEARS)
NAMES = (MEAN, RUNOFF_RATIO, *EXCEEDED, *FLOODS)
WHAT = {
    MEAN: "Mean flow",
    RUNOFF_RATIO: "Share of precipitation that runs off",
    **{f"exceeded-{percent}": f"Flow exceeded on {percent} % of days" for percent in EXCEEDED_PERCENT},
    **{f"flood-{years}": f"Daily mean exceeded in one of {years} years" for years in FLOOD_YEARS},
}
RANGE = (0.05, 0.5, 0.95)
"""Quantiles of the factors: low, estimate and high."""
DRY = 1e-3
"""mm/day, or a ratio: less counts as none."""
CLASSES = 3

Signatures = Mapping[str, float]
"""By name; those that a record is too short for are left out."""


def signatures(flow: Array, days: Days, precipitation: float) -> Signatures:
    """Compute the signatures of consecutive days of flow, (days,), NaN where missing, and of mean precipitation.

    Both are in mm/day. Floods are of daily means, by generalised extreme values of annual maxima.
    """
    known = flow[np.isfinite(flow)]
    maxima = annual_maxima(flow, days).values
    floods = frequency.levels(maxima, [1 - 1 / years for years in FLOOD_YEARS], Gev, intervals=False)
    found = {MEAN: float(known.mean())}
    if precipitation > DRY:
        found[RUNOFF_RATIO] = float(known.mean()) / precipitation
    exceeded = np.quantile(known, [1 - percent / 100 for percent in EXCEEDED_PERCENT])
    found |= zip(EXCEEDED, exceeded.tolist(), strict=True)
    return found | {name: of.value for name, of in zip(FLOODS, floods, strict=True) if of.value is not None}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A signature of a river without a gauge, with the range of nine in ten, in its unit.

    `typical_error` is the median absolute error of such estimates in basins left out, as a share of what was observed.
    """

    value: float
    low: float
    high: float
    typical_error: float


@dataclass(frozen=True, slots=True)
class SignatureErrors:
    """The factors from simulated to observed signatures, in basins that the simulation's members had not learnt from.

    Attributes:
        basins: their number.
        bounds: of the simulated runoff ratio between the classes, (classes - 1,).
        factors: by name the quantiles at `RANGE`, (classes, 3).
        typical_errors: by name, (classes,).
    """

    basins: int
    bounds: tuple[float, ...]
    factors: Mapping[str, tuple[tuple[float, float, float], ...]]
    typical_errors: Mapping[str, tuple[float, ...]]

    @classmethod
    def fit(cls, simulated: Sequence[Signatures], observed: Sequence[Signatures]) -> Self:
        """Fit the factors to some basins, which must have all signatures.

        The quantiles are those that the next basin falls below with their probability (Weibull's plotting positions).
        """
        ratios = np.array([of[RUNOFF_RATIO] for of in simulated])
        bounds = np.quantile(ratios, np.arange(1, CLASSES) / CLASSES)
        classes = np.searchsorted(bounds, ratios)
        factors: dict[str, tuple[tuple[float, float, float], ...]] = {}
        errors: dict[str, tuple[float, ...]] = {}
        for name in NAMES:
            of_model, of_river = (np.maximum([of[name] for of in every], DRY) for every in (simulated, observed))
            of_classes = [of_river[classes == at] / of_model[classes == at] for at in range(CLASSES)]
            low, middle, high = np.array([np.quantile(of, RANGE, method="weibull") for of in of_classes]).T.tolist()
            factors[name] = tuple(zip(low, middle, high, strict=True))
            errors[name] = tuple(
                float(np.median(np.abs(median / of - 1))) for median, of in zip(middle, of_classes, strict=True)
            )
        return cls(len(ratios), tuple(bounds.tolist()), factors, errors)

    def estimates(self, simulated: Signatures) -> dict[str, Estimate]:
        """Estimate the signatures of a river from those of its simulation; nothing without a runoff ratio.

        Flow that is exceeded more often is never higher, and a rarer flood never lower.
        """
        if RUNOFF_RATIO not in simulated:
            return {}
        at = int(np.searchsorted(self.bounds, simulated[RUNOFF_RATIO]))
        values = {name: np.multiply(max(simulated[name], DRY), self.factors[name][at]) for name in simulated}
        for falling in (EXCEEDED, FLOODS[::-1]):
            for before, name in pairwise(name for name in falling if name in values):
                values[name] = np.minimum(values[before], values[name])
        found = dict[str, Estimate]()
        for name, row in values.items():
            low, value, high = np.where(row > DRY, row, 0.0).tolist()
            found[name] = Estimate(value, low, high, self.typical_errors[name][at])
        return found
