"""What a network learns of each basin by itself, beside its attributes: a vector that turns gates and touches no water.

No paper's: measured in docs/recipe.md.
"""

import torch
from torch import Tensor, nn

from models.contract import Inputs

FIRST_SD = 0.05


class BasinVectors(nn.Module):
    """A vector for each basin that the network learns from; zeros for any other.

    In training the whole vector of a sample is zeroed at times, so that the network learns to do without it.

    Args:
        size: numbers of a vector.
        dropout: the probability that a sample's is zeroed in training.
    """

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.size, self.dropout = size, dropout
        self.learn_from(0)

    def learn_from(self, basins: int) -> None:
        """Begin with vectors of some basins, in the order of their ids."""
        self.table = nn.Parameter(FIRST_SD * torch.randn(basins, self.size))

    def forward(self, inputs: Inputs) -> Tensor:
        """Return attributes and vectors, (B, S + size)."""
        return torch.cat([inputs.static, self._of(inputs)], 1)

    def _of(self, inputs: Inputs) -> Tensor:
        basin = inputs.basin
        if basin is None or not len(self.table):
            return inputs.static.new_zeros(len(inputs.static), self.size)
        known = basin >= 0
        if self.training:
            known = known & (torch.rand(len(basin), device=basin.device) >= self.dropout)
        return self.table[basin.clamp_min(0)] * known.unsqueeze(1)


def with_room(table: Tensor, places: Tensor, basins: int) -> Tensor:
    """Return a table of more basins: the vectors that are known at their new places, zeros for the others.

    Args:
        table: (fewer, size).
        places: (fewer,).
    """
    wider = table.new_zeros(basins, table.shape[1])
    wider[places] = table
    return wider
