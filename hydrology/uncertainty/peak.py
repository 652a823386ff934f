"""The highest day of the flow ahead, with its uncertainty in height and time."""

from dataclasses import dataclass

import numpy as np

from hydrology.base.arrays import Array

LEVELS = (0.05, 0.5, 0.95)
"""Levels of the quantiles: the ends of the 90 % range, and the median between them."""


@dataclass(frozen=True, slots=True)
class PeakAhead:
    """Quantiles of the peak over equally likely paths, at `LEVELS`.

    Attributes:
        heights: the highest daily flow, in the unit of the paths.
        leads: its day, as the number of days after T0.
    """

    heights: tuple[float, ...]
    leads: tuple[int, ...]


def peak_ahead(paths: Array) -> PeakAhead:
    """Return the quantiles of the height and day of the peak.

    Each path has one peak, its highest day (the first of equal ones), so that height and day are those of the same
    event; the quantiles of daily flow would understate the height wherever its day is uncertain.

    Args:
        paths: equally likely paths of daily flow, (paths, leads).
    """
    heights = np.quantile(paths.max(axis=1), LEVELS)
    leads = np.quantile(paths.argmax(axis=1) + 1, LEVELS, method="inverted_cdf")
    return PeakAhead(tuple(heights.tolist()), tuple(int(lead) for lead in leads))
