"""Rain margins: how much rain it takes until flow passes a level, from the response of flow to rain of several sizes.

The rain falls evenly over a window of days; no other rain falls. The response is the highest daily mean flow from the
window's first day to `RESPONSE_DAYS` after its last. Between two sizes of rain it is interpolated linearly.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import reached_by_shares

WINDOW_DAYS = (1, 2, 3)
"""Lengths of the windows in days."""
START_LEADS = (1, 2, 3)
"""Days from T0 to the first day of a window."""
RAIN_MM = (0.0, 8.0, 16.0, 28.0, 45.0, 70.0, 110.0, 180.0, 300.0)
"""Sizes of the rain in a window, mm: about logarithmic. A margin interpolated between them differs from one of twice as
many sizes by 1 to 3 mm up to 100 mm, by up to 5 % above."""
RESPONSE_DAYS = 2
"""Days after a window in which flow may still rise: in 98 of 100 cases the peak comes earlier."""
RANGE = (0.05, 0.5, 0.95)
"""The quantiles of members that are reported."""
_FALL = 0.02
"""A smaller share by which flow falls from one size to the next is rounding and noise of the network."""


MarginStatus = Literal["needs-rain", "already-above", "not-reached"]
"""The answer by the median of members: this rain is needed; flow is above the level without rain; or the largest
rain does not suffice."""


@dataclass(frozen=True, slots=True)
class RainMargin:
    """The rain that takes flow to a level, mm: the quantiles `RANGE` of members, or why one has none.

    In 5 % of the members `low` suffices (0 where none is needed), in 95 % `high`.
    """

    low: float | Absent
    median: float | Absent
    high: float | Absent

    @property
    def status(self) -> MarginStatus:
        if isinstance(self.median, Absent):
            return "not-reached"
        return "needs-rain" if self.median > 0 else "already-above"


def crossings(peaks: npt.ArrayLike, rain_mm: npt.ArrayLike, level: float) -> Array:
    """Return the smallest rain with which flow reaches a level, mm: 0 without rain, infinity where no size does.

    Where flow is not monotone in the rain, it is the first crossing. NaN where the response is not known.

    Args:
        peaks: (..., sizes, members), in the unit of the level; the result is (..., members).
        rain_mm: the sizes, (sizes,), rising from 0.
    """
    flow, sizes = np.moveaxis(np.asarray(peaks, np.float64), -2, -1), np.asarray(rain_mm, np.float64)
    reached = flow >= level
    at = np.maximum(reached.argmax(axis=-1), 1)
    below, above = (np.take_along_axis(flow, place[..., None], axis=-1)[..., 0] for place in (at - 1, at))
    crossed = (below < level) & (above >= level)
    share = np.where(crossed, level - below, 0.0) / np.where(crossed, above - below, 1.0)
    between = sizes[at - 1] + share * (sizes[at] - sizes[at - 1])
    margin = np.where(reached[..., 0], 0.0, np.where(reached.any(axis=-1), between, np.inf))
    return np.where(np.isnan(flow).any(axis=-1), np.nan, margin)


def rain_margin(of_members: npt.ArrayLike, largest_mm: float, weights: Array | None = None) -> RainMargin:
    """Return the median and range of members' crossings (members,) in mm, none NaN; weights have the sum 1."""
    quantiles = reached_by_shares(np.asarray(of_members, np.float64), RANGE, weights)
    return RainMargin(*(_known(mm, largest_mm) for mm in quantiles))


def share_not_monotone(peaks: npt.ArrayLike) -> float:
    """Return the share of responses (..., sizes, members), NaN left out, in which flow falls with more rain."""
    flow = np.moveaxis(np.asarray(peaks, np.float64), -2, -1).reshape(-1, np.shape(peaks)[-2])
    flow = flow[~np.isnan(flow).any(axis=1)]
    return float((np.diff(flow) < -_FALL * flow[:, :-1]).any(axis=1).mean()) if len(flow) else 0.0


def _known(mm: float, largest_mm: float) -> float | Absent:
    return mm if np.isfinite(mm) else absent(Reason.LEVEL_BEYOND_RAIN, mm=largest_mm)
