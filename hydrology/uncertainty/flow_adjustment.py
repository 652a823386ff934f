"""A forecaster's adjustment of forecast flow: a factor, and a shift in time."""

from dataclasses import dataclass, replace

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.exceedance import FlowAhead


@dataclass(frozen=True, slots=True)
class FlowAdjustment:
    """A change of a forecast flow, which is the same for all its quantiles and paths.

    Attributes:
        factor: multiplies the flow.
        shift_days: moves the flow of each day to this many days later; earlier where negative.
    """

    factor: float = 1.0
    shift_days: int = 0

    def adjusted(self, flow: Array) -> Array:
        """Return flow (..., leads) adjusted; NaN on the days that no day's flow is moved to."""
        moved = np.full(flow.shape, np.nan)
        days = self.shift_days
        if days >= 0:
            moved[..., days:] = flow[..., : flow.shape[-1] - days]
        else:
            moved[..., :days] = flow[..., -days:]
        return self.factor * moved

    def adjusted_ahead(self, flow: FlowAhead) -> FlowAhead:
        """Return the flow of the days ahead adjusted, with NaN as `adjusted`."""
        return replace(flow, quantiles=self.adjusted(flow.quantiles), paths=self.adjusted(flow.paths))
