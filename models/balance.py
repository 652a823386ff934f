"""Checks the water balance of an ensemble's members in one basin over some days."""

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.water.ledger import Sums, close, close_since_empty, negative_water
from models.inference import ArrayMap


def balance_fault(
    rain: npt.NDArray[np.float32],
    outputs: ArrayMap,
    start: list[ArrayMap] | None,
    last: list[ArrayMap],
    sums: Sums | None,
    at: int,
) -> Absent | None:
    """Describe the first fault of a member, an open ledger or negative water; None without one.

    Args:
        rain: precipitation on the basin, (days,) in mm/day.
        outputs: `discharge` and `loss`, (members, basins, days) in mm/day.
        start, last: each member's states before and after the days, basins first; None for empty stores.
        sums: of the flows since the empty store; None where unknown.
    """
    members, now = len(last), stored_water(last, at)
    discharge, loss = outputs["discharge"][:, at], outputs["loss"][:, at]
    before = np.zeros(members) if start is None else stored_water(start, at)
    rain_of_each = np.broadcast_to(rain, discharge.shape)
    for member, ledger in enumerate(close(rain_of_each, discharge, loss, before, now, dtype=np.float32)):
        if not ledger.closes:
            return absent(Reason.MEMBER_LEDGER_OPEN, member=member, residual=ledger.residual_mm)
    cells = np.stack([state["c"][at] for state in last])
    for member, negative in negative_water(discharge, loss, cells).items():
        return absent(Reason.MEMBER_LEDGER_WRONG, member=member, fault=negative)
    for member, ledger in enumerate(() if sums is None else close_since_empty(sums, now)):
        if not ledger.closes:
            residual, fallen = ledger.residual_mm, ledger.scale_mm
            return absent(Reason.MEMBER_LEAKS, member=member, residual=residual, fallen=fallen)
    return None


def stored_water(state: list[ArrayMap], at: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the water stored by each member in one basin, (members,) in mm."""
    return np.array([member["c"][at].sum(dtype=np.float64) for member in state])
