"""Cuts events out of a hydrograph: peaks over a threshold, independent of each other.

Every local maximum above the threshold begins as an event. Two neighbours are merged while their peaks are less
than `MIN_APART` days apart, or flow between them does not fall below `VALLEY` of the lower, the lowest peak first.
Source: Lang et al. 1999, doi:10.1016/S0022-1694(99)00167-5, section 3.2, whose distance of 5 days + ln(area in square
miles) is a fixed one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array, Integers

MIN_APART = 7
"""Days between two independent peaks: more than twice the window of a match, so that matches are unambiguous."""
VALLEY = 0.75
"""Between two independent peaks flow falls below this share of the lower."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event by positions: first and last day above the threshold, and the highest (first of equal ones)."""

    start: int
    peak: int
    end: int
    height: float


def cut_events(flow: Array, threshold: float) -> list[Event]:
    """Return the events of a hydrograph (days,), in order; NaN, where missing, counts as below the threshold."""
    level = np.where(np.isnan(flow), -np.inf, flow)
    groups = _merged(level, [[peak] for peak in _local_maxima(level).tolist() if level[peak] > threshold])
    above = np.flatnonzero(level > threshold)
    valleys = [before[-1] + int(level[before[-1] : after[0]].argmin()) for before, after in pairwise(groups)]
    parts = np.split(above, np.searchsorted(above, valleys))
    peaks = [_peak(level, group) for group in groups]
    return [
        Event(int(days[0]), peak, int(days[-1]), float(level[peak]))
        for days, peak in zip(parts if groups else [], peaks, strict=True)
    ]


def _merged(level: Array, groups: list[list[int]]) -> list[list[int]]:
    while True:
        lowest = [
            (min(level[first], level[second]), at)
            for at, (first, second) in enumerate(pairwise(_peak(level, group) for group in groups))
            if not _independent(level, first, second)
        ]
        if not lowest:
            return groups
        _, at = min(lowest)
        groups = [*groups[:at], groups[at] + groups[at + 1], *groups[at + 2 :]]


def _peak(level: Array, group: Sequence[int]) -> int:
    return max(group, key=level.__getitem__)


def _independent(level: Array, first: int, second: int) -> bool:
    lower = min(level[first], level[second])
    return second - first >= MIN_APART and bool(level[first:second].min() < VALLEY * lower)


def _local_maxima(level: Array) -> Integers:
    """Return the first days of the local maxima, with the ends taken as lower beyond."""
    starts = np.flatnonzero(np.concatenate([[True], level[1:] != level[:-1]]))
    values = np.concatenate([[-np.inf], level[starts], [-np.inf]])
    return starts[(values[1:-1] > values[:-2]) & (values[1:-1] > values[2:])]
