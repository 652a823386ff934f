"""Weather of several products as one: of each day, the mean of what is known.

A network that sees several products errs less than the mean of networks that see one each (Kratzert et al. 2021,
doi:10.5194/hess-25-2685-2021). No product is moved to another's day: their means fit discharge best as they are
(`python -m benchmarks.regional trial`).
"""

from collections.abc import Sequence

import numpy as np

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries, Flag


def mean_of_known(parts: Sequence[DailySeries | None], days: Period) -> DailySeries:
    """Return the mean of series of one unit over some days, with the flags of all values in it; None: none is known.

    A day that lacks one of them is FILLED by the others; one that lacks all is NaN, MISSING where one of them is.
    """
    if all(part is None for part in parts):
        raise ValueError("a mean needs at least one series")
    given = [part.over(days) for part in parts if part is not None]
    values, flags = np.stack([one.values for one in given]), np.stack([one.flags for one in given])
    known = np.isfinite(values)
    count = known.sum(axis=0)
    mean = np.where(known, values, 0).sum(axis=0, dtype=np.float64) / np.maximum(count, 1)
    of_known = np.bitwise_or.reduce(np.where(known, flags, 0), axis=0)
    filled = np.where(count < len(parts), of_known | Flag.FILLED, of_known)
    is_missing = (flags & Flag.MISSING != 0).any(axis=0)
    unknown = np.where(is_missing, Flag.MISSING, Flag.ABSENT)
    return DailySeries(
        days.first,
        np.where(count > 0, mean, np.nan).astype(np.float32),
        np.where(count > 0, filled, unknown).astype(np.uint8),
        given[0].unit,
    )
