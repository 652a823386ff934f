"""The interface of networks: inputs, states and outputs, vectors of basins, tags of water."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from jobspec.network import Unseen

State = dict[str, Tensor]
"""The named tensors that a network carries from day to day, each with B first."""

Outputs = Mapping[str, Tensor]
"""Named results. Every network returns `discharge` (T, B) in mm/day, NaN on skipped days. One that conserves mass also
returns `loss` (T, B) in mm/day and `storage` (T, B, K) in mm; and where its state has `tags` (B, K, G), the tagged
water of its cells, `discharge_by_tag` and `loss_by_tag` (T, B, G) in mm/day."""


DAILY = ("mass", "auxiliary", "temperature", "pet", "elapsed", "mask")
"""The inputs with the axes (T, B)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a network.

    Attributes:
        mass: (T, B, M), the water that enters, in mm/day, never scaled.
        auxiliary: (T, B, L), standardised.
        static: (B, S), standardised.
        basin: (B,), the index of each sample's basin among those that the network learnt from, in the order of their
            ids; -1 for any other. None: all are others. Or (B, basins): 1 at that index where the basin's vector is
            seen, else 0.
        temperature: (T, B), mean of the day in degC; None unless the network's `sees_energy` is true.
        pet: (T, B), potential evapotranspiration in mm/day; None likewise.
        elapsed: (T, B), days since the step before; None where every step is one day.
        mask: (T, B), False where a day's forcing is missing; None where none is. Only networks whose
            `skips_gaps` is true accept it.
        tag: (T,), the tag of the water that falls on each day, from 0; None without tags.
    """

    mass: Tensor
    auxiliary: Tensor
    static: Tensor
    basin: Tensor | None = None
    temperature: Tensor | None = None
    pet: Tensor | None = None
    elapsed: Tensor | None = None
    mask: Tensor | None = None
    tag: Tensor | None = None

    def between(self, first: int, last: int) -> "Inputs":
        """Return the steps first, ..., last - 1."""
        by_day: dict[str, Any] = {name: getattr(self, name) for name in (*DAILY, "tag")}
        some = {name: values[first:last] for name, values in by_day.items() if values is not None}
        return replace(self, **some)

    def of_samples(self, chosen: Any) -> "Inputs":
        """Return some of the samples, by any index of a tensor."""
        daily: dict[str, Any] = {name: getattr(self, name) for name in DAILY}
        some = {name: values[:, chosen] for name, values in daily.items() if values is not None}
        basin = None if self.basin is None else self.basin[chosen]
        return replace(self, static=self.static[chosen], basin=basin, **some)


@dataclass(frozen=True, slots=True)
class WaterScales:
    """Mean and standard deviation of the water in a training, pooled over basins and days, in mm/day."""

    mass_mean: float
    mass_sd: float
    discharge_mean: float
    discharge_sd: float


FIRST_SD = 0.05
PRIOR_WEIGHT = 0.02
"""Weight of the prior when only vectors are fitted, beside a loss of about 1 - NSE. Chosen by hand, not measured
yet."""


class BasinVectors(nn.Module):
    """A vector for each basin that the network learns from; zeros for any other.

    In training a sample's vector is zeroed with the probability `dropout`, so that the network also works without.
    """

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.size, self.dropout = size, dropout
        self.learn_from(0)

    def learn_from(self, basins: int) -> None:
        """Start with vectors of some basins, in the order of their ids."""
        self.table = nn.Parameter(FIRST_SD * torch.randn(basins, self.size))

    def forward(self, inputs: Inputs) -> Tensor:
        """Return attributes and vectors, (B, S + size)."""
        basin, vectors = inputs.basin, inputs.static.new_zeros(len(inputs.static), self.size)
        if basin is not None and basin.dim() > 1:
            vectors = basin @ self.table
        elif basin is not None and len(self.table):
            vectors = self.table[basin.clamp_min(0)] * self.seen(basin, len(basin)).unsqueeze(1)
        return torch.cat([inputs.static, vectors], 1)

    def seen(self, basin: Tensor | None, samples: int) -> Tensor:
        """Return for which samples (B,) the vector is known, and not left out by this step of a training."""
        if basin is None:
            return torch.zeros(samples, dtype=torch.bool, device=self.table.device)
        known = basin >= 0
        if self.training:
            known = known & (torch.rand(samples, device=basin.device) >= self.dropout)
        return known


class VectorPrior:
    """The prior of a basin's vector: the distribution of the other basins' vectors, (basins, size).

    Each value is taken as normal about 0, the value of an unseen basin, with the mean square of the known basins.
    """

    def __init__(self, table: Tensor) -> None:
        learnt = table[(table != 0).any(dim=1)].detach()
        self.variance = learnt.square().mean(0) if len(learnt) else table.new_full(table.shape[1:], FIRST_SD**2)

    def penalty(self, vectors: Tensor) -> Tensor:
        """Return the deviation of vectors (B, size) from the prior, to be added to a loss."""
        return PRIOR_WEIGHT * (vectors.square() / self.variance).mean()


def with_room(table: Tensor, places: Tensor, basins: int) -> Tensor:
    """Return a table of more basins: known vectors at their new places (fewer,), zeros for the others."""
    wider = table.new_zeros(basins, table.shape[1])
    wider[places] = table
    return wider


ROUNDED_MM = 1e-3  # after a storm, a cell may hold the rounding error of hundreds of mm


def check_tags(inputs: Inputs, water: Tensor, tagged: Tensor) -> Tensor:
    """Return the tag of each day's precipitation, (T,), for water (B, K) that is tagged (B, K, G), in mm.

    ValueError: a day has no tag or an unknown one, or the tags do not sum to the cells' water.
    """
    if inputs.tag is None:
        raise ValueError("Water that falls needs a tag where that in the cells has one: give Inputs.tag")
    days, tags = len(inputs.mass), tagged.shape[-1]
    if inputs.tag.shape != (days,) or inputs.tag.min() < 0 or inputs.tag.max() >= tags:
        raise ValueError(f"Each of the {days} days needs one of the {tags} tags, from 0: give Inputs.tag so")
    if tagged.shape[:-1] != water.shape or tagged.dtype != water.dtype:
        raise ValueError(
            f"The tagged water has the shape {tuple(tagged.shape)} and {tagged.dtype}, the water in the cells "
            f"{tuple(water.shape)} and {water.dtype}: divide this among the tags, the last axis"
        )
    if not torch.allclose(tagged.sum(-1), water, atol=ROUNDED_MM, equal_nan=True):
        raise ValueError("The tags do not add up to the water in the cells: give all of it a tag")
    return inputs.tag


class Network(nn.Module, ABC):
    """A rainfall-runoff network.

    Running all days at once gives the same result as running them one by one with the state carried on.

    Attributes:
        conserving: whether its cells hold water, in mm, and conserve it.
        skips_gaps: whether it accepts a mask, and skips the days with missing forcing.
        sees_energy: whether it needs temperature and potential evapotranspiration.
        trash_cells: the cells whose water is lost, never discharge.
        evaporates: name of the output that the air takes up; all `loss` unless leakage is separate.
        half_products: whether it may multiply in bfloat16 where the processor has a unit for that. Training sets it;
            water is never rounded so.
    """

    architecture: str
    conserving: bool
    skips_gaps: bool
    half_products = False
    sees_energy = False
    trash_cells: tuple[int, ...] = ()
    evaporates = "loss"

    @property
    def snow_cells(self) -> tuple[int, ...]:
        """The cells that hold snow by construction; none where snow has to be found in the cells."""
        return ()

    @property
    def computes_blocks_alone(self) -> bool:
        """Whether a block of samples gives the same bits alone as among several blocks."""
        return False

    def scale_to(self, water: WaterScales) -> None:
        """Set the scales of water before a training. A conserving network never scales it."""

    def learn_from(self, basins: int) -> None:
        """Allocate a vector for each basin, if vectors are used."""
        if (vectors := self.basin_vectors) is not None:
            vectors.learn_from(basins)

    def hide(self, unseen: Collection[Unseen]) -> None:
        """Hide some inputs from the gates, if the network has gates that see them."""

    @property
    def basin_vectors(self) -> BasinVectors | None:
        """The parameters learnt for each basin, if any."""
        return None

    @abstractmethod
    def empty_state(self, samples: int) -> State:
        """Return the state before any water has fallen, for `samples` samples."""

    @abstractmethod
    def forward(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run the days of `inputs` from `state` (None: an empty store). Return outputs and the last state."""

    def check_state(self, state: State, samples: int) -> None:
        """Raise ValueError unless a state has the names, the shapes and the dtype of this network's."""
        for name, wanted in self.empty_state(samples).items():
            given = state.get(name)
            if given is None or given.shape != wanted.shape or given.dtype != wanted.dtype:
                found = "is missing" if given is None else f"has the shape {tuple(given.shape)} and {given.dtype}"
                raise ValueError(
                    f"The state's {name} {found}: {self.architecture} needs {tuple(wanted.shape)} and {wanted.dtype}"
                )

    def __call__(self, inputs: Inputs, state: State | None = None) -> tuple[Outputs, State]:
        """Run `forward` from a checked state."""
        if state:
            self.check_state(state, inputs.mass.shape[1])
        outputs, last = super().__call__(inputs, state)
        return outputs, last
