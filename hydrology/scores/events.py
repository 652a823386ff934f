"""Events of a hydrograph.

Events are peaks over a threshold, independent of each other. Every local maximum above the threshold begins as an
event. Two neighbours are merged while their peaks are less than `MIN_APART` days apart, or flow between them does not
fall below `VALLEY` of the lower, the lowest peak first. Source: Lang et al. 1999, doi:10.1016/S0022-1694(99)00167-5,
section 3.2, whose distance of 5 days + ln(area in square miles) is a fixed one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array, Integers

MIN_APART = 7
"""Days between two independent peaks."""
VALLEY = 0.75
"""Between two independent peaks flow falls below this share of the lower."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event by positions: first and last day above the threshold, and the highest (first of equal ones)."""

    start: int
    peak: int
    end: int
    height: float


Group = tuple[int, int, int]
"""The local maxima of an event by positions: the first, the highest (first of equal ones) and the last."""


def cut_events(flow: Array, threshold: float) -> list[Event]:
    """Return the events of a hydrograph (days,), in order; NaN, where missing, counts as below the threshold."""
    level = np.where(np.isnan(flow), -np.inf, flow)
    values = level.tolist()  # of which single ones are read in a tenth of the time
    groups = _merged(values, [(peak, peak, peak) for peak in _local_maxima(level).tolist() if values[peak] > threshold])
    if not groups:
        return []
    above = np.flatnonzero(level > threshold)
    valleys = [before[-1] + int(level[before[-1] : after[0]].argmin()) for before, after in pairwise(groups)]
    cuts = np.searchsorted(above, valleys).astype(np.intp)
    starts, ends = above[[0, *cuts]].tolist(), above[[*(cuts - 1), -1]].tolist()
    return [
        Event(start, peak, end, values[peak]) for start, (_, peak, _), end in zip(starts, groups, ends, strict=True)
    ]


def _merged(level: Sequence[float], groups: list[Group]) -> list[Group]:
    lower = [_lower_if_dependent(level, *pair) for pair in pairwise(groups)]
    while lower and (lowest := min(lower)) < np.inf:
        at = lower.index(lowest)
        (first, *before, _), (_, *after, last) = groups[at : at + 2]
        groups[at : at + 2] = [(first, max(before + after, key=level.__getitem__), last)]
        del lower[at]
        for side in range(max(at - 1, 0), min(at + 1, len(lower))):
            lower[side] = _lower_if_dependent(level, *groups[side : side + 2])
    return groups


def _lower_if_dependent(level: Sequence[float], before: Group, after: Group) -> float:
    """Return the lower peak of two neighbours that are one event, infinity where they are independent."""
    (_, first, _), (_, second, _) = before, after
    lower = min(level[first], level[second])
    is_independent = second - first >= MIN_APART and min(level[first:second]) < VALLEY * lower
    return np.inf if is_independent else lower


def _local_maxima(level: Array) -> Integers:
    """Return the first days of the local maxima, with the ends taken as lower beyond."""
    starts = np.flatnonzero(np.concatenate([[True], level[1:] != level[:-1]]))
    values = np.concatenate([[-np.inf], level[starts], [-np.inf]])
    return starts[(values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])]
