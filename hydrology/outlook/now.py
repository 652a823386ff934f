"""The last observed flow of a basin and its trend."""

from dataclasses import dataclass

import numpy as np

from hydrology.alerts.alert_rule import Trend
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days
from hydrology.base.reasons import Reason

TREND_DAYS = 2
"""Number of days that the trend covers."""
STEADY_SHARE = 0.05
"""Largest change, relative to the flow before, that counts as steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNow:
    """The last observed flow.

    The change, in the unit of the record, is since `TREND_DAYS` before.
    """

    day: Day
    flow: float
    change: float | Absent

    @property
    def trend(self) -> Trend | Absent:
        if isinstance(self.change, Absent):
            return self.change
        if abs(self.change) <= STEADY_SHARE * (self.flow - self.change):
            return "steady"
        return "rising" if self.change > 0 else "falling"


def flow_now(days: Days, flow: Array) -> FlowNow | None:
    """Return the last observed flow of consecutive days; None where none is known."""
    known = np.flatnonzero(np.isfinite(flow))
    if not len(known):
        return None
    last = int(known[-1])
    before = flow[last - TREND_DAYS] if last >= TREND_DAYS else np.nan
    change = absent(Reason.NO_FLOW_BEFORE, days=TREND_DAYS) if np.isnan(before) else float(flow[last] - before)
    return FlowNow(day=days[last], flow=float(flow[last]), change=change)
