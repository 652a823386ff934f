"""Layers that networks share: products, a normaliser of gates, an embedding, and antecedent weather.

The result of a product for a sample is bitwise independent of its place in the batch. A normalised gate is of shares
that are not negative and sum to 1 over the last axis.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCK = 32  # samples that are run together: one shape and so one order of arithmetic
ROW_ALIGNMENT = 16  # numbers: 64 bytes in float32. A product takes rows that begin elsewhere another way, and sums in
# another order.


def aligned_size(rows: int) -> int:
    return rows + -rows % ROW_ALIGNMENT


def aligned(values: Tensor, group: int) -> Tensor:
    """Return values (groups * group, ...) with zeros after each group, up to the next multiple of ROW_ALIGNMENT."""
    padding = [0, 0] * (values.dim() - 1) + [0, aligned_size(group) - group]
    return functional.pad(values.unflatten(0, (-1, group)), padding).flatten(0, 1)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b, x (..., features), W (outputs, features), b (outputs,).

    Without gradients, rows are padded to whole multiples of ROW_ALIGNMENT; training does not need that.
    """
    padding = -x.shape[-1] % ROW_ALIGNMENT
    if padding and not torch.is_grad_enabled():
        x, weight = functional.pad(x, (0, padding)), functional.pad(weight, (0, padding))
    if bias is not None and x.is_cuda:  # for many members at once (vmap), torch copies the operands of both together
        return functional.linear(x, weight) + bias
    return functional.linear(x, weight, bias)


class Linear(nn.Linear):
    """`torch.nn.Linear` computed by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def in_blocks(layer: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Return what a layer makes of rows (B, features), without gradients in products of BLOCK rows each."""
    if torch.is_grad_enabled():
        return layer(rows)
    return torch.cat([layer(block) for block in rows.split(BLOCK)])


DEAD_COLUMN = 1e-30  # a sum of positive parts up to this counts as none: c / s must stay finite in float32


def normalised_logistic(z: Tensor) -> Tensor:
    """Return sigma(z) / sum of sigma(z), as in (17). Computed in logarithms, so that it is never 0 / 0."""
    return torch.softmax(functional.logsigmoid(z), -1)


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


Array = npt.NDArray[np.floating]


class AntecedentWeather(nn.Module):
    """Exponential means of the weather up to each day, one for each time scale.

    The effect of a day depends on the days before it beyond the water that they left: frozen ground, ripe snow, leaves.
    The means follow from the weather alone, nothing in them is learnt, and they hold no water. Not from a paper:
    measured in docs/understand/recipe.md. After `days` a day's share of the mean has fallen to 1/e.
    """

    retention: Tensor

    def __init__(self, days: Sequence[float], values: int) -> None:
        super().__init__()
        self.values = values * len(days)
        self.register_buffer("retention", torch.exp(-1 / torch.tensor(days)), persistent=False)

    def empty_state(self, like: Tensor) -> Tensor:
        """Return the means before the first day, (B, values). 0, which is average weather."""
        return like.new_zeros(len(like), self.values)

    def forward(self, weather: Tensor, means: Tensor) -> Tensor:
        """Return the means (T, B, values) after every day of standardised weather, from those before, (B, values)."""
        stored = self.retention.to(weather).repeat_interleave(weather.shape[-1])
        shares = weather.repeat(1, 1, len(self.retention)) * (1 - stored)
        if not torch.is_grad_enabled() and shares.device.type == "cpu":
            _accumulate(shares.numpy(), stored.numpy(), means.numpy())
            return shares
        if shares.is_cuda:
            return by_doubling(shares, stored, means)
        days = []
        for day in shares:
            means = day + stored * means
            days.append(means)
        return torch.stack(days)


def by_doubling(shares: Tensor, stored: Tensor, means: Tensor) -> Tensor:
    """Return means as `AntecedentWeather`, each operation one of all days, of as many as double up to their number."""
    days, step = torch.cat([shares[:1] + stored * means, shares[1:]]), 1
    while step < len(days):
        days = torch.cat([days[:step], days[step:] + stored**step * days[:-step]])
        step *= 2
    return days


def _accumulate(days: Array, stored: Array, means: Array) -> None:
    """Turn shares of days (T, B, values) into means in place, as torch rounds but in a fifth of its time."""
    before = np.empty_like(days[0])
    for day in days:
        np.multiply(stored, means, out=before)
        np.add(day, before, out=day)
        means = day
