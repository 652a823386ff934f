"""What the gates of MC-LSTM see of a day besides its weather as measured."""

import torch
from torch import Tensor, nn

from models.nets.products import BLOCK, Linear


class Embedding(nn.Module):
    """A network of two layers over a day's weather and the basin's attributes; it sees no water in the cells.

    The gates are linear before their activation. What a day does to a basin is not: radiation dries a forest more than
    a rock. No paper's: measured in docs/recipe.md.

    Args:
        inputs: numbers of a day, the attributes among them.
        values: numbers that it makes of them, each within (-1, 1).
    """

    def __init__(self, inputs: int, values: int) -> None:
        super().__init__()
        self.values = values
        self.first, self.second = Linear(inputs, 2 * values), Linear(2 * values, values)

    def forward(self, x: Tensor) -> Tensor:
        """Return (T, B, values) of x (T, B, inputs)."""
        if torch.is_grad_enabled():
            return self._embed(x)
        # A day and a whole block (`models.inference`) by itself: its bits do not depend on how many are run at once.
        return torch.stack([torch.cat([self._embed(block) for block in day.split(BLOCK)]) for day in x])

    def _embed(self, x: Tensor) -> Tensor:
        return torch.tanh(self.second(torch.tanh(self.first(x))))
