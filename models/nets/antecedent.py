"""Antecedent weather, as the gates of MC-LSTM see it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

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
        days = []
        for day in shares:
            means = day + stored * means
            days.append(means)
        return torch.stack(days)


def _accumulate(days: Array, stored: Array, means: Array) -> None:
    """Turn shares of days (T, B, values) into means in place, as torch rounds but in a fifth of its time."""
    before = np.empty_like(days[0])
    for day in days:
        np.multiply(stored, means, out=before)
        np.add(day, before, out=day)
        means = day
