"""Vectors learnt for each basin, which affect the gates and no water. From no paper: docs/understand/recipe.md."""

import torch
from torch import Tensor, nn

from models.inputs import Inputs

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
        return torch.cat([inputs.static, self._of(inputs)], 1)

    def _of(self, inputs: Inputs) -> Tensor:
        basin = inputs.basin
        if basin is None or not len(self.table):
            return inputs.static.new_zeros(len(inputs.static), self.size)
        return self.table[basin.clamp_min(0)] * self.seen(basin, len(basin)).unsqueeze(1)

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
