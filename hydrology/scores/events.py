"""Events of a hydrograph.

Events are peaks over a threshold, independent of each other. Every local maximum above the threshold begins as an
event. Two neighbours are merged while their peaks are less than `MIN_APART` days apart, or flow between them does not
fall below `VALLEY` of the lower, the lowest peak first. Source: Lang et al. 1999, doi:10.1016/S0022-1694(99)00167-5,
section 3.2, whose distance of 5 days + ln(area in square miles) is a fixed one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
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
    peaks = _local_maxima(level)
    peaks = peaks[level[peaks] > threshold]
    if not len(peaks):
        return []
    groups = _merged(level, peaks.tolist())
    above = np.flatnonzero(level > threshold)
    valleys = [before[-1] + int(level[before[-1] : after[0]].argmin()) for before, after in pairwise(groups)]
    cuts = np.searchsorted(above, valleys).astype(np.intp)
    starts, ends = above[[0, *cuts]].tolist(), above[[*(cuts - 1), -1]].tolist()
    return [
        Event(start, peak, end, float(level[peak]))
        for start, (_, peak, _), end in zip(starts, groups, ends, strict=True)
    ]


def _merged(level: Array, peaks: Sequence[int]) -> list[Group]:
    """Merge local maxima that are one event, the lowest first."""
    groups, count = [(peak, peak, peak) for peak in peaks], len(peaks)
    before, after = [at - 1 for at in range(count)], [at + 1 for at in range(count)]
    heights, valleys = level[peaks].tolist(), np.minimum.reduceat(level, peaks).tolist()  # a valley follows its peak

    def lower_if_dependent(at: int) -> float:
        """Return the lower peak of a group and the next, infinity where they are independent or there is no next."""
        if after[at] == count:
            return np.inf
        lower, apart = min(heights[at], heights[after[at]]), groups[after[at]][1] - groups[at][1]
        return np.inf if apart >= MIN_APART and valleys[at] < VALLEY * lower else lower

    lowers = [lower_if_dependent(at) for at in range(count)]
    queue = [(lower, at) for at, lower in enumerate(lowers) if lower < np.inf]
    heapify(queue)
    while queue:
        lower, at = heappop(queue)
        if lowers[at] != lower:
            continue  # one of the two has been merged since
        gone, valley = after[at], valleys[at]
        (first, peak, _), (_, other, last) = groups[at], groups[gone]
        if heights[gone] > heights[at]:
            peak, heights[at], valleys[at] = other, heights[gone], valleys[gone]
            if at:
                valleys[before[at]] = min(valleys[before[at]], valley)
        else:
            valleys[at] = min(valley, valleys[gone])
        groups[at], lowers[gone], after[at] = (first, peak, last), np.inf, after[gone]
        if after[at] < count:
            before[after[at]] = at
        for side in (before[at], at) if at else (at,):
            lowers[side] = lower_if_dependent(side)
            if lowers[side] < np.inf:
                heappush(queue, (lowers[side], side))
    left = [0]
    while after[left[-1]] < count:
        left.append(after[left[-1]])
    return [groups[at] for at in left]


def _local_maxima(level: Array) -> Integers:
    """Return the first days of the local maxima, with the ends taken as lower beyond."""
    starts = np.flatnonzero(np.concatenate([[True], level[1:] != level[:-1]]))
    values = np.concatenate([[-np.inf], level[starts], [-np.inf]])
    return starts[(values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])]
