"""Compares models on the same basins: quartiles, differences and their significance."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.doc import Doc
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason

MIN_PAIRS = 6
"""With fewer differing basins, p cannot be below 0.05: for five in the same direction it is 2 / 2⁵."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a score: its value for a perfect simulation, and its unit."""

    perfect: float
    unit: str


MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    dict.fromkeys(("nse", "log_nse", "kge", "kge_2012", "alpha_nse", "beta_kge", "pearson_r"), Meaning(1, "1"))
    | dict.fromkeys(("beta_nse", "missed_peaks"), Meaning(0, "1"))
    | dict.fromkeys(("fhv", "flv", "fms", "peak_mape"), Meaning(0, "%"))
    | {"rmse": Meaning(0, "mm/day"), "peak_timing": Meaning(0, "days")}
)
"""The meaning of every score of `hydrology.scores.scores`, by name."""


@dataclass(frozen=True, slots=True)
class Quartiles:
    """Quartiles over basins, interpolated linearly; None where there is no basin."""

    n: Annotated[int, Doc("Number of basins with a value.")]
    p25: float | None
    median: float | None
    p75: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of a model to a first one, basin by basin."""

    n: Annotated[int, Doc("Number of basins in which both have a value.")]
    median: Annotated[
        float | None,
        Doc("The median of (this one - the first version), in the unit of the metric; null without a basin."),
    ]
    better: Annotated[int, Doc("Number of basins in which it is nearer to the perfect value than the first version.")]
    worse: Annotated[int, Doc("Number of basins in which it is farther from it.")]
    p: Annotated[
        float | None,
        Doc(
            "p-value of the two-sided Wilcoxon signed-rank test: the probability of such differences if neither "
            "version is better."
        ),
    ]
    reason: Annotated[Absent | None, Doc("Why there is no p; null where there is one.")]


def quartiles(values: npt.ArrayLike) -> Quartiles:
    """Return the quartiles of scores of shape (basins,)."""
    known = np.asarray(values, dtype=np.float64)
    if not known.size:
        return Quartiles(0, None, None, None)
    p25, median, p75 = np.percentile(known, [25, 50, 75]).tolist()
    return Quartiles(known.size, p25, median, p75)


def difference(scores: npt.ArrayLike, reference: npt.ArrayLike, *, perfect: float) -> Difference:
    """Compare a model's scores with those of a reference on the same basins, each (basins,)."""
    ours, theirs = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if ours.ndim != 1 or ours.shape != theirs.shape:
        raise InvalidInput(f"Paired scores need one shape (basins,); theirs are {ours.shape} and {theirs.shape}.")
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise InvalidInput("Paired scores must be finite: leave out the basins where one has none.")
    away, other_away = np.abs(ours - perfect), np.abs(theirs - perfect)
    p = signed_rank(ours - theirs)
    return Difference(
        n=ours.size,
        median=float(np.median(ours - theirs)) if ours.size else None,
        better=int((away < other_away).sum()),
        worse=int((away > other_away).sum()),
        p=None if isinstance(p, Absent) else p,
        reason=p if isinstance(p, Absent) else None,
    )


def signed_rank(differences: Array) -> float | Absent:
    """Return p of the two-sided Wilcoxon signed-rank test, or why there is none.

    Differences of 0 are dropped. p is exact for up to 50 differences without ties, and otherwise from the normal
    approximation. Source: Wilcoxon 1945, doi:10.2307/3001968.
    """
    from scipy.stats import wilcoxon  # imported here: the API only reads differences, and does not load scipy

    if not differences.size:
        return absent(Reason.NO_COMMON_BASIN)
    unequal = differences[differences != 0]
    if not unequal.size:
        return absent(Reason.NO_DIFFERENCE)
    if unequal.size < MIN_PAIRS:
        return absent(Reason.TOO_FEW_DIFFERENCES, minimum=MIN_PAIRS, basins=unequal.size)
    return float(wilcoxon(unequal).pvalue)
