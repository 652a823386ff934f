"""Fills short gaps of slowly varying forcing: temperature, radiation, vapour pressure; never precipitation."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Integers

MAX_FILLED_GAP = 5  # days


def fill_short_gaps(values: npt.NDArray[np.float32]) -> Integers:
    """Interpolate gaps of up to MAX_FILLED_GAP days between known days, in place, and return the days filled."""
    missing = np.flatnonzero(np.isnan(values))
    filled = [np.zeros(0, dtype=np.int64)]
    for gap in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
        if not 0 < len(gap) <= MAX_FILLED_GAP or gap[0] == 0 or gap[-1] == len(values) - 1:
            continue
        before, after = gap[0] - 1, gap[-1] + 1
        values[gap] = np.interp(gap, [before, after], [values[before], values[after]])
        filled.append(gap)
    return np.concatenate(filled)
