"""Partial durations: the independent floods of a record above a threshold, several a year.

Annual maxima leave the second flood of a year out, so that frequent floods come from these. Source: Langbein 1949,
doi:10.1029/TR030i006p00879. Floods are independent by the rule of `hydrology.scores.events`; that two to three a year
on average are used is from Lang et al. 1999, doi:10.1016/S0022-1694(99)00167-5, section 3.3.
"""

from dataclasses import dataclass

import numpy as np

from hydrology.base.arrays import Array
from hydrology.scores.events import cut_events

PER_YEAR = 3
"""Maximum number of floods a year on average: the highest count."""
EXCEEDED = 0.05
"""Share of the days above the lowest threshold."""


@dataclass(frozen=True, slots=True)
class PartialDurations:
    """Heights of floods above a threshold, the highest first, and their mean number a year."""

    heights: Array
    threshold: float
    per_year: float


def partial_durations(flow: Array, years: int) -> PartialDurations:
    """Return the independent floods of consecutive days, NaN where missing or not of the years that count."""
    lowest, count = float(np.nanquantile(flow, 1 - EXCEEDED)), PER_YEAR * years
    peaks = np.sort([event.height for event in cut_events(flow, lowest)])[::-1]
    threshold = float(peaks[count]) if len(peaks) > count else lowest
    heights = peaks[:count] - threshold
    return PartialDurations(heights, threshold, len(heights) / years)
