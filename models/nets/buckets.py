"""Buckets: the stores of a conceptual model in parallel, with parameters that a network gives them.

Each component is snow with liquid water, soil, an upper and a lower zone (`bucket_scan.py`, of the form of HBV); the
components are shares of the basin, and their flow takes some days to the gauge. A network gives each component its
parameters from the basin's attributes and, for some of them, from the day's weather, within physical ranges. The idea:
Feng et al. 2022, doi:10.1029/2022WR032404. The networks see neither rain nor the water in the stores, so that what the
equations guarantee of rain holds whatever the weights.

The ranges are physical: a degree of warmth melts what it melts in the field, and no more evaporates than the air takes
up. Wider ones fit discharge a little better, with snow that lies for years as a place to lose water.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from models.contract import BasinVectors, Inputs, Network, Outputs, State, check_tags
from models.devices import gpu_programs
from models.nets import bucket_scan
from models.nets.bucket_scan import DELAYS, PATHS, STORES, UNDERWAY, Constants, Drivers, Flow, TaggedFlow
from models.nets.compiled import bucket_recurrence as compiled
from models.nets.layers import AntecedentWeather, Embedding, Linear, in_blocks

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


def values_of(parameters: tuple[Parameter, ...], z: Tensor) -> dict[str, Tensor]:
    """Return the values of P parameters by name, for numbers z (..., P, N, B); the middle of a range for 0."""
    low, high = _ends(parameters, z.device).unflatten(0, (-1, 1, 1)).unbind(-1)
    # All in one operation, for what a call costs more than what it computes where days are few.
    values = low.to(z) + (high - low).to(z) * torch.sigmoid(z)
    each = zip(parameters, values.unbind(-3), strict=True)
    return {one.name: torch.exp(value) if one.logarithmic else value for one, value in each}


@cache
def _ends(parameters: tuple[Parameter, ...], device: torch.device) -> Tensor:
    """Return the ends of the ranges on a device, (P, 2), copied there once: a CUDA graph may copy nothing to it."""
    with torch.inference_mode(mode=False):  # with and without gradients use them later
        return torch.tensor([one.ends for one in parameters], dtype=torch.float64, device=device)


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


TOGETHER, TOGETHER_IN_THREADS = 262_144, 16_384
"""Numbers that are computed together outside training by one thread, and where torch has several: few enough then that
it never splits an operation among them, which would change bits."""


class Buckets(Network):
    """Parallel buckets with parameters from attributes and weather.

    Args:
        auxiliary, static: L and S, the numbers of standardised dynamic inputs and attributes.
        components: N. This and all others as in `jobspec.network.BucketsConfig`.
        recurrence: the program that runs the days: `fastest` is the compiled one on a CPU, an extension's on a GPU,
            otherwise torch's; others are for checks.
    """

    architecture = "buckets"
    conserving = True
    skips_gaps = False
    sees_energy = True
    evaporates = "evapotranspiration"

    def __init__(
        self,
        auxiliary: int,
        static: int,
        components: int = 8,
        hidden: int = 32,
        embedding: int = 16,
        antecedent_days: Sequence[float] = (),
        basin_vector: int = 0,
        vector_dropout: float = 0.0,
        recurrence: str = "fastest",
    ) -> None:
        super().__init__()
        self.components, self.recurrence = components, recurrence
        static += basin_vector
        self.vectors = BasinVectors(basin_vector, vector_dropout) if basin_vector else None
        self.hidden = Linear(static, hidden)
        self.given = Linear(hidden, NUMBERS * components)
        self.antecedent = AntecedentWeather(antecedent_days, auxiliary) if antecedent_days else None
        weather = auxiliary * (1 + len(antecedent_days))
        self.embedding = Embedding(weather + static, embedding) if embedding else None
        self.moves = Linear(embedding, len(DAILY) * components) if embedding else None
        self._reset()

    def _reset(self) -> None:
        nn.init.normal_(self.given.bias)
        nn.init.normal_(self.given.weight, std=0.1)
        with torch.no_grad():
            start(self._by_component(self.given.bias))
            if self.moves is not None:
                nn.init.normal_(self.moves.weight, std=0.01)
                nn.init.zeros_(self.moves.bias)

    @property
    def computes_blocks_alone(self) -> bool:
        return self.recurrence == "fastest" and compiled.available(self.given.bias.device)

    @property
    def basin_vectors(self) -> BasinVectors | None:
        return self.vectors

    @property
    def snow_cells(self) -> tuple[int, ...]:
        first = UNDERWAY
        return tuple(range(first, first + 2 * self.components))

    def empty_state(self, samples: int) -> State:
        """Return empty cells, {"c": zeros (B, K)} in mm, and {"weather"}, the antecedent means, if any are seen."""
        cells = self.given.bias.new_zeros(samples, UNDERWAY + len(STORES) * self.components)
        return {"c": cells} if self.antecedent is None else {"c": cells, "weather": self.antecedent.empty_state(cells)}

    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run T days for B samples from the water in `state["c"]` (B, K), in mm.

        With tags as MC-LSTM does. `evapotranspiration` and `leak`, (T, B) in mm/day, add up to `loss`. No day may lack
        its forcing, temperature or potential evapotranspiration.
        """
        if inputs.mask is not None:
            raise ValueError("Buckets cannot skip a day: they would lose the day's water")
        if inputs.mass.shape[0] == 0:
            raise ValueError("Buckets need at least one day of forcing")
        if inputs.temperature is None or inputs.pet is None:
            raise ValueError("Buckets need temperature and potential evapotranspiration: give Inputs.temperature, .pet")
        state = state or self.empty_state(inputs.mass.shape[1])
        static = inputs.static if self.vectors is None else self.vectors(inputs)
        numbers = in_blocks(self._given_by, static).t().contiguous()
        parameters = Parameters(self._by_component(numbers))
        weather, last = inputs.auxiliary, dict[str, Tensor]()
        if self.antecedent is not None:
            means = self.antecedent(weather, state["weather"])
            weather, last["weather"] = torch.cat([weather, means], -1), means[-1]
        embedded = None if self.embedding is None else self.embedding(weather, static)
        flows, by_tag = zip(*self._days(inputs, parameters, embedded, state), strict=True)
        flow = Flow(*(torch.cat(values) for values in zip(*flows, strict=True)))
        outputs = {**flow._asdict(), "loss": flow.evapotranspiration + flow.leak, "storage": flow.storage.mT}
        if "tags" in state:
            outputs["discharge_by_tag"] = torch.cat([tagged.discharge for tagged in by_tag]).mT
            outputs["loss_by_tag"] = torch.cat([tagged.loss for tagged in by_tag]).mT
            last["tags"] = by_tag[-1].cells.permute(2, 0, 1)
        return outputs, {"c": outputs["storage"][-1], **last}

    def _given_by(self, static: Tensor) -> Tensor:
        given: Tensor = self.given(torch.tanh(self.hidden(static)))
        return given

    def _days(
        self, inputs: Inputs, parameters: Parameters, embedded: Tensor | None, state: State
    ) -> Iterator[tuple[Flow, TaggedFlow | None]]:
        """Yield the results of consecutive days; all at once with gradients."""
        program = self._program()
        cells, tagged = state["c"].t().contiguous(), None
        if "tags" in state:
            check_tags(inputs, state["c"], state["tags"])
            tagged = state["tags"].permute(1, 2, 0).contiguous()
        block = days = len(inputs.mass)
        if not torch.is_grad_enabled():
            numbers = TOGETHER if torch.get_num_threads() == 1 else TOGETHER_IN_THREADS
            block = max(1, numbers // (len(DAILY) * cells[: self.components].numel()))
        for first in range(0, days, block):
            some = inputs.between(first, first + block)
            moves = None if embedded is None else self._moves(embedded[first : first + block])
            assert some.temperature is not None
            assert some.pet is not None
            drivers = parameters.drivers(some.mass[..., 0], some.temperature, some.pet, moves)
            days_of = (drivers, parameters.constants, parameters.routing, cells)
            by_tag = None
            if tagged is None:
                flow = program.scan(*days_of)
            else:
                with torch.no_grad():
                    flow, by_tag = program.tagged_scan(*days_of, tagged, some.tag)
                tagged = by_tag.cells
            cells = flow.storage[-1]
            yield flow, by_tag

    def _program(self) -> Any:
        """Return the module that runs the days."""
        if self.computes_blocks_alone:
            return compiled
        gpu = gpu_programs()
        return bucket_scan if gpu is None else gpu.buckets(self) or bucket_scan

    def _moves(self, embedded: Tensor) -> Tensor:
        """Return by what the weather of some days moves the daily parameters, (T, parameters, N, B)."""
        assert self.moves is not None
        # Without gradients each day's product is separate, so that its bits do not depend on the number of days.
        if torch.is_grad_enabled():
            moves = self.moves(embedded).mT.contiguous()
        else:
            moves = torch.stack([in_blocks(self.moves, day).t() for day in embedded])
        by_component: Tensor = moves.unflatten(1, (-1, self.components))
        return by_component

    def _by_component(self, numbers: Tensor) -> Tensor:
        """Return numbers (count N, ...) by component, (count, N, ...)."""
        by_component: Tensor = numbers.unflatten(0, (-1, self.components))
        return by_component
