"""An embedding of a day's weather for the gates of MC-LSTM."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.nets.products import BLOCK, Linear

RAIN_SCALE = 0.1  # mm to cm: rain of the size of the standardised inputs
ROWS = 16 * BLOCK
"""Rows of a product outside training, a row being a day of a basin: enough that the fixed cost of a call is small, and
few enough that a step of one day wastes little."""


class Embedding(nn.Module):
    """A network of two layers over a day's weather and the basin's attributes; it sees no water in the cells.

    The gates are linear before their activation. The effect of a day on a basin is not: radiation dries a forest more
    than a rock. Not from a paper: measured in docs/understand/recipe.md. Values lie within (-1, 1).
    """

    def __init__(self, inputs: int, values: int) -> None:
        super().__init__()
        self.values = values
        self.first, self.second = Linear(inputs, 2 * values), Linear(2 * values, values)

    def forward(self, weather: Tensor, static: Tensor) -> Tensor:
        """Return embeddings (T, B, values) of daily weather (T, B, ...) and constant values (B, ...)."""
        if torch.is_grad_enabled():
            return self._embed(_of_days(weather, static))
        days = max(1, ROWS // len(static))
        return torch.cat([self._in_blocks(_of_days(some, static)) for some in weather.split(days)])

    def _in_blocks(self, x: Tensor) -> Tensor:
        """Embed x (days, B, inputs) in products of one shape, so that bits do not depend on the number of rows."""
        rows = x.flatten(0, 1)
        padded = functional.pad(rows, (0, 0, 0, -len(rows) % ROWS))
        values = torch.cat([self._embed(block) for block in padded.split(ROWS)])
        embedded: Tensor = values[: len(rows)].unflatten(0, x.shape[:2])
        return embedded

    def _embed(self, x: Tensor) -> Tensor:
        return torch.tanh(self.second(torch.tanh(self.first(x))))


def _of_days(weather: Tensor, static: Tensor) -> Tensor:
    return torch.cat([weather, static.expand(len(weather), *static.shape)], -1)
