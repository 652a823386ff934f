"""What the gates of MC-LSTM see of a day besides its weather as measured."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.nets.products import BLOCK, Linear

ROWS = 16 * BLOCK
"""Rows of a product outside training, a row being a day of a basin: enough that what a call costs whatever its size is
small, and few enough that a step of one day wastes little."""


class Embedding(nn.Module):
    """A network of two layers over a day's weather and the basin's attributes; it sees no water in the cells.

    The gates are linear before their activation. What a day does to a basin is not: radiation dries a forest more than
    a rock. No paper's: measured in docs/understand/recipe.md.

    Args:
        inputs: numbers of a day, the attributes among them.
        values: numbers that it makes of them, each within (-1, 1).
    """

    def __init__(self, inputs: int, values: int) -> None:
        super().__init__()
        self.values = values
        self.first, self.second = Linear(inputs, 2 * values), Linear(2 * values, values)

    def forward(self, weather: Tensor, static: Tensor) -> Tensor:
        """Return what the gates see of every day, (T, B, values).

        Args:
            weather: (T, B, numbers of a day that change).
            static: (B, numbers that do not).
        """
        if torch.is_grad_enabled():
            return self._embed(_of_days(weather, static))
        days = max(1, ROWS // len(static))
        return torch.cat([self._in_blocks(_of_days(some, static)) for some in weather.split(days)])

    def _in_blocks(self, x: Tensor) -> Tensor:
        """Embed x (days, B, inputs) in products of one shape: no bit depends on how many rows are asked for."""
        rows = x.flatten(0, 1)
        padded = functional.pad(rows, (0, 0, 0, -len(rows) % ROWS))
        values = torch.cat([self._embed(block) for block in padded.split(ROWS)])
        embedded: Tensor = values[: len(rows)].unflatten(0, x.shape[:2])
        return embedded

    def _embed(self, x: Tensor) -> Tensor:
        return torch.tanh(self.second(torch.tanh(self.first(x))))


def _of_days(weather: Tensor, static: Tensor) -> Tensor:
    return torch.cat([weather, static.expand(len(weather), *static.shape)], -1)
