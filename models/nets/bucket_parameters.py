"""The parameters of buckets: their ranges, and what a day's weather makes of them.

The ranges are physical: a degree of warmth melts what it melts in the field, and no more evaporates than the air takes
up. Wider ones fit discharge a little better, with snow that lies for years as a place to lose water.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from models.nets.bucket_scan import DELAYS, PATHS, Constants, Drivers

TRANSITION = 1.0  # degC around the threshold within which snow and rain fall together
FIRST_RECESSION = 0.7  # 1/day, of the weights of the way to the gauge at first


@dataclass(frozen=True, slots=True)
class Parameter:
    """The range of a parameter, from `low` to `high`; `logarithmic` where its logarithm is spread evenly."""

    name: str
    low: float
    high: float
    logarithmic: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the range, of a `logarithmic` range those of the logarithm."""
        return (math.log(self.low), math.log(self.high)) if self.logarithmic else (self.low, self.high)


def values_of(parameters: Sequence[Parameter], z: Tensor) -> dict[str, Tensor]:
    """Return the values of P parameters by name, for numbers z (..., P, N, B); the middle of a range for 0."""
    low, high = z.new_tensor([one.ends for one in parameters], dtype=torch.float64).unflatten(0, (-1, 1, 1)).unbind(-1)
    # All in one operation, for what a call costs more than what it computes where days are few.
    values = low.to(z) + (high - low).to(z) * torch.sigmoid(z)
    each = zip(parameters, values.unbind(-3), strict=True)
    return {one.name: torch.exp(value) if one.logarithmic else value for one, value in each}


DAILY = (
    Parameter("melt_factor", 1.2, 8.0),  # mm/degC/day; Hock 2003, doi:10.1016/S0022-1694(03)00257-9, table 1
    Parameter("phase", -1.5, 1.5),  # degC, of the threshold of snowfall above that of melt
    Parameter("evaporation", 0.2, 1.0),  # of potential evapotranspiration
    Parameter("moist", 0.3, 1.0),  # share of the capacity from which on the soil evaporates all that is asked
    Parameter("excess", 10.0, 2000.0, logarithmic=True),  # mm/day of water on the ground of which half runs off
    Parameter("shape", 0.05, 5.0, logarithmic=True),  # b: how unequal the soil's capacities are
    Parameter("percolation", 0.1, 10.0, logarithmic=True),  # mm/day
    Parameter("k0", 0.05, 0.95),  # 1/day
    Parameter("k1", 0.01, 0.6, logarithmic=True),  # 1/day
    Parameter("k2", 0.002, 0.15, logarithmic=True),  # 1/day
    Parameter("lost", 0.0, 1.0),  # share of the lower zone's outflow
)
"""Those that the weather may move from day to day."""
STATIC = (
    Parameter("melt_threshold", -4.0, 4.0),  # degC of the basin's mean: a component may lie 600 m above or below it
    Parameter("refreezing", 0.0, 0.1),  # of the melt factor
    Parameter("release", 0.1, 1.0),  # 1/day, of the liquid water in snow
    Parameter("capacity", 20.0, 800.0, logarithmic=True),  # mm, of the soil
    Parameter("drain", 0.0003, 0.3, logarithmic=True),  # 1/day, of a full soil; at most 1/3, so that it rises with rain
    Parameter("threshold", 0.5, 100.0, logarithmic=True),  # mm in the upper zone at which fast flow is half of k0 of it
)
PARAMETERS = len(DAILY) + len(STATIC)
NUMBERS = PARAMETERS + 1 + PATHS * DELAYS
"""Numbers of the network for each component: of its parameters, of its share of the basin, of its ways to the gauge."""
FIRST_LOST = -3.0  # z of `lost` at first: 5 % of the outflow


def start(z: Tensor) -> None:
    """Turn numbers of components that were drawn from N(0, 1), (NUMBERS, N), into those of a network at first."""
    z[[parameter.name for parameter in DAILY].index("lost")] = FIRST_LOST
    z[PARAMETERS + 1 :] *= 0.3
    z[PARAMETERS + 1 :] -= FIRST_RECESSION * torch.arange(DELAYS).to(z).repeat_interleave(PATHS).unsqueeze(-1)


class Parameters:
    """The parameters of a basin's components that stay the same, from numbers z (NUMBERS, N, B) of the network.

    The numbers are of daily and static parameters, of the shares of the basin, and of the days on each path.
    """

    def __init__(self, z: Tensor) -> None:
        self.daily, static = z[: len(DAILY)], z[len(DAILY) : PARAMETERS]
        self.area = area = _shares(z[PARAMETERS])
        routing = _shares(z[PARAMETERS + 1 :].unflatten(0, (DELAYS, PATHS)))
        self.routing = routing.transpose(1, 2).flatten(1, 2).contiguous()
        fixed = values_of(STATIC, static)
        self.melt_threshold, self.refreezing = fixed["melt_threshold"], fixed["refreezing"]
        capacity, threshold = area * fixed["capacity"], area * fixed["threshold"]
        self.constants = Constants(fixed["release"], capacity, threshold, fixed["drain"])

    def drivers(self, rain: Tensor, temperature: Tensor, pet: Tensor, z: Tensor | None) -> Drivers:
        """Return what drives the stores, from rain, temperature and pet (T, B) in mm/day, degC and mm/day.

        `z`, (T, len(DAILY), N, B), is added to the numbers of the parameters; None: they stay the same.
        """
        moved = self.daily.unsqueeze(0) if z is None else self.daily + z
        today = values_of(DAILY, moved)
        warmth = temperature.unsqueeze(1) - self.melt_threshold
        frozen = (0.5 - (warmth - today["phase"]) / (2 * TRANSITION)).clamp(0, 1)
        falls, rate = self.area * rain.unsqueeze(1), self.area * today["melt_factor"]
        snowfall = falls * frozen
        demand = self.area * pet.unsqueeze(1) * today["evaporation"]
        drying = -torch.expm1(-demand / (today["moist"] * self.constants.capacity))
        ground = (today["shape"] + 1, self.area * today["excess"], self.area * today["percolation"])
        n, excess, percolation, *rates = (
            part.expand_as(falls) for part in (*ground, *(today[name] for name in ("k0", "k1", "k2", "lost")))
        )
        return Drivers(
            *(snowfall, falls - snowfall, rate * warmth.relu(), rate * self.refreezing * (-warmth).relu()),
            *(demand, drying, n, excess, percolation, *rates),
        )


def _shares(z: Tensor) -> Tensor:
    """Return shares that add up to 1 over the first axis. Bits of torch.softmax depend on the number of threads."""
    weights = torch.exp(z - z.amax(0))
    return weights / weights.sum(0)
