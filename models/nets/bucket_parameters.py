"""The parameters of buckets: their ranges, and what a day's weather makes of them.

The ranges are physical: a degree of warmth melts what it melts in the field, and no more evaporates than the air takes
up. Wider ones fit discharge a little better, with snow that lies for years as a place to lose water.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from models.nets.bucket_scan import Constants, Drivers

TRANSITION = 1.0  # degC around the threshold within which snow and rain fall together


@dataclass(frozen=True, slots=True)
class Parameter:
    """The range of a parameter, from `low` to `high`; `even` in ratios instead of differences."""

    name: str
    low: float
    high: float
    even: bool = False

    def of(self, z: Tensor) -> Tensor:
        """Return its value for a number of the network, the middle of the range for 0."""
        share = torch.sigmoid(z)
        if self.even:
            low, high = torch.tensor([self.low, self.high], dtype=torch.float64).log().tolist()
            return torch.exp(low + (high - low) * share)
        return self.low + (self.high - self.low) * share


DAILY = (
    Parameter("melt_factor", 1.2, 8.0),  # mm/degC/day; Hock 2003, doi:10.1016/S0022-1694(03)00257-9, table 1
    Parameter("evaporation", 0.2, 1.0),  # of potential evapotranspiration
    Parameter("moist", 0.3, 1.0),  # share of the capacity from which on the soil evaporates all that is asked
    Parameter("shape", 0.05, 5.0, even=True),  # b: how unequal the soil's capacities are
    Parameter("percolation", 0.1, 10.0, even=True),  # mm/day
    Parameter("k0", 0.05, 0.95),  # 1/day
    Parameter("k1", 0.01, 0.6, even=True),  # 1/day
    Parameter("k2", 0.002, 0.15, even=True),  # 1/day
)
"""Those that the weather may move from day to day."""
STATIC = (
    Parameter("melt_threshold", -1.5, 2.0),  # degC
    Parameter("refreezing", 0.0, 0.1),  # of the melt factor
    Parameter("held", 0.0, 0.2),  # liquid water that snow holds, as a share of it
    Parameter("capacity", 20.0, 800.0, even=True),  # mm, of the soil
    Parameter("threshold", 0.5, 100.0, even=True),  # mm, of fast flow in the upper zone
    Parameter("lost", 0.0, 1.0),  # share of the lower zone's outflow
)
ROUTING = Parameter("routing", 0.2, 1.0)  # 1/day; one for the basin
PARAMETERS = len(DAILY) + len(STATIC)
FIRST_LOST = -3.0  # z of `lost` at first: 5 % of the outflow


class Parameters:
    """The parameters of a basin's components that stay the same.

    Args:
        z: (PARAMETERS + 1, N, B), numbers of the network. Those of the daily parameters, of the static ones, and of the
            shares of the basin.
        routing: (B,), likewise.
    """

    def __init__(self, z: Tensor, routing: Tensor) -> None:
        self.daily, self.routing = z[: len(DAILY)], ROUTING.of(routing)
        weights = torch.exp(z[-1] - z[-1].amax(0))  # bits of torch.softmax depend on the number of threads
        self.area = area = weights / weights.sum(0)
        stays = {one.name: one.of(part) for one, part in zip(STATIC, z[len(DAILY) : -1], strict=True)}
        self.melt_threshold, self.refreezing = stays["melt_threshold"], stays["refreezing"]
        capacity, threshold = area * stays["capacity"], area * stays["threshold"]
        self.constants = Constants(stays["held"], capacity, threshold, stays["lost"])

    def drivers(self, rain: Tensor, temperature: Tensor, pet: Tensor, z: Tensor | None) -> Drivers:
        """Return what drives the stores.

        Args:
            rain, temperature, pet: (T, B) in mm/day, degC and mm/day.
            z: (T, len(DAILY), N, B), added to the numbers of the parameters; None: they stay the same.
        """
        moved = self.daily.unsqueeze(0) if z is None else self.daily + z
        today = {one.name: one.of(part) for one, part in zip(DAILY, moved.unbind(1), strict=True)}
        warmth = temperature.unsqueeze(1) - self.melt_threshold
        frozen = (0.5 - warmth / (2 * TRANSITION)).clamp(0, 1)
        falls, rate = self.area * rain.unsqueeze(1), self.area * today["melt_factor"]
        snowfall = falls * frozen
        demand = self.area * pet.unsqueeze(1) * today["evaporation"]
        drying = -torch.expm1(-demand / (today["moist"] * self.constants.capacity))
        by_day = (today["shape"] + 1, *(today[name] for name in ("percolation", "k0", "k1", "k2")))
        n, percolation, k0, k1, k2 = (part.expand_as(falls) for part in by_day)
        return Drivers(
            *(snowfall, falls - snowfall, rate * warmth.relu(), rate * self.refreezing * (-warmth).relu()),
            *(demand, drying, n, self.area * percolation, k0, k1, k2),
        )
