"""The highest of the days ahead, with its uncertainty in height and time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.outlook.days_ahead import shortened
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.uncertainty.weighted import reached_by_shares, weighted_mean, weighted_quantiles

LEVELS = (0.05, 0.5, 0.95)
"""Levels of the quantiles: the ends of the 90 % range, and the median between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The peak over the paths of a distribution: its median, and the ends of its 90 % range.

    Heights are of the highest daily flow, mm/day; `lead`, `first` and `last` are days after T0.
    """

    height: float
    low: float
    high: float
    lead: int
    first: int
    last: int


def peak_of(flow: FlowAhead, leads: Sequence[int], before: float | None) -> Peak | Absent:
    """Return the peak of the days ahead, mm/day, or that flow more likely falls than rises.

    Each path has one peak, its highest day (the first of equal ones), so that height and day are those of the same
    event; the quantiles of daily flow would understate the height wherever its day is uncertain. Leads are days after
    T0. Without `before`, the flow of the last past day as last observed, the first day ahead stands for it.
    """
    if not flow.paths.size:
        return absent(Reason.NOT_FINITE)
    heights = flow.paths.max(axis=1)
    if float(weighted_mean(heights > _started(flow.paths, before), flow.weights)) < 0.5:
        return absent(Reason.NO_PEAK_AHEAD)
    low, height, high = map(shortened, weighted_quantiles(heights, LEVELS, flow.weights).tolist())
    days = np.asarray(leads)[flow.paths.argmax(axis=1)]
    first, lead, last = map(int, reached_by_shares(days, LEVELS, flow.weights))
    return Peak(height=height, low=low, high=high, lead=lead, first=first, last=last)


def _started(paths: Array, before: float | None) -> Array | float:
    return paths[:, 0] if before is None else before
