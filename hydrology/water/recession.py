"""What becomes of the water in a basin if nothing more falls: what runs off and what is lost, and when flow is low."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MILESTONES = (10, 30, 90, 180)
"""After so many days, and at the end, what has become of the water is told."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What has become of the water that a basin held at T0, by the end of each day: M members, D days, all in mm.

    Attributes:
        runs_off, lost: since T0, (M, D).
        left: in store, (M, D).
        held: at T0, (M,).
    """

    runs_off: Array
    lost: Array
    left: Array
    held: Array

    @classmethod
    def of(cls, discharge: npt.ArrayLike, loss: npt.ArrayLike, storage: npt.ArrayLike, held: npt.ArrayLike) -> Self:
        """Return it of what members compute.

        Args:
            discharge: (M, D), mm/day; so is loss.
            storage: at the end of each day, (M, D), mm.
            held: at T0, (M,), mm.
        """
        flow, loss, left, held = (np.asarray(values, np.float64) for values in (discharge, loss, storage, held))
        return cls(flow.cumsum(axis=1), loss.cumsum(axis=1), left, held)


def milestones(days: int) -> list[int]:
    """Return the milestones within so many days, and the last day."""
    return [*(day for day in MILESTONES if day < days), days]


def first_days_below(flow: npt.ArrayLike, level: float) -> Array:
    """Return the first day after T0 on which the flow of each member is below a level, (M,); infinity where on none.

    Args:
        flow: (M, D), in the unit of the level.
    """
    below = np.asarray(flow) < level
    return np.where(below.any(axis=1), below.argmax(axis=1) + 1.0, np.inf)


def reached_by(days: Array, share: float) -> int | None:
    """Return the day by which a share of the members has got there; None where fewer ever do.

    Args:
        days: on which each does, (M,); infinity for never.
    """
    count = max(math.ceil(share * len(days) - 1e-9), 1)  # what rounding adds to a whole number makes no member more
    day = np.sort(days)[count - 1]
    return int(day) if math.isfinite(day) else None
