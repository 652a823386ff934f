"""Recession without precipitation: runoff, loss and the day of low flow."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.uncertainty.weighted import reached_by_shares

Array = npt.NDArray[np.float64]

MILESTONES = (10, 30, 90, 180)
"""Days after T0 at which the recession is reported, besides the last day."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Water held at T0 and its fate by the end of each day: M members, D days, all in mm.

    `runs_off` and `lost` since T0, and `left` in store, are (M, D); `held` is (M,).
    """

    runs_off: Array
    lost: Array
    left: Array
    held: Array

    @classmethod
    def of(cls, discharge: npt.ArrayLike, loss: npt.ArrayLike, storage: npt.ArrayLike, held: npt.ArrayLike) -> Self:
        """Compute it from discharge and loss (M, D), mm/day, storage after each day (M, D) and at T0 (M,), mm."""
        flow, loss, left, held = (np.asarray(values, np.float64) for values in (discharge, loss, storage, held))
        return cls(flow.cumsum(axis=1), loss.cumsum(axis=1), left, held)


def milestones(days: int) -> list[int]:
    """Return the milestones within a number of days, and the last day."""
    return [*(day for day in MILESTONES if day < days), days]


def first_days_below(flow: npt.ArrayLike, level: float) -> Array:
    """Return each member's first day after T0 with flow (M, D) below a level, (M,); infinity where there is none."""
    below = np.asarray(flow) < level
    return np.where(below.any(axis=1), below.argmax(axis=1) + 1.0, np.inf)


def reached_by(days: Array, share: float, weights: Array | None = None) -> int | None:
    """Return the day by which a share of members reached an event (M,), infinity for never; None where too few do."""
    (day,) = reached_by_shares(days, [share], weights)
    return int(day) if math.isfinite(day) else None
