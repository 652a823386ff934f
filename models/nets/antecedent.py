"""The weather of the days before, as the gates of MC-LSTM see it."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class AntecedentWeather(nn.Module):
    """Exponential means of the weather over the days before and the day itself, one for each time scale.

    What a day does depends on the days before it beyond the water that they left: frozen ground, ripe snow, leaves. The
    means follow from the weather alone, nothing in them is learnt, and they hold no water. No paper's: measured in
    docs/recipe.md.

    Args:
        days: the time scales; a day's share of the mean falls to 1/e in so many days.
        values: numbers of a day's weather.
    """

    kept: Tensor

    def __init__(self, days: Sequence[float], values: int) -> None:
        super().__init__()
        self.values = values * len(days)
        self.register_buffer("kept", torch.exp(-1 / torch.tensor(days)), persistent=False)

    def empty_state(self, like: Tensor) -> Tensor:
        """Return the means before the first day, (B, values): 0, which is ordinary weather."""
        return like.new_zeros(len(like), self.values)

    def forward(self, weather: Tensor, means: Tensor) -> Tensor:
        """Return the means at the end of every day, (T, B, values).

        Args:
            weather: (T, B, values of a day), standardised.
            means: (B, values) at the end of the day before.
        """
        days = []
        kept = self.kept.to(weather).repeat_interleave(weather.shape[-1])
        for day in weather.repeat(1, 1, len(self.kept)) * (1 - kept):
            means = day + kept * means
            days.append(means)
        return torch.stack(days)
