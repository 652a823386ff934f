"""The value of acting on a probability.

The relative economic value is that of the static cost-loss model: somebody who acts at a cost C avoids a loss L. The
value is 1 for perfect forecasts, 0 for the better of always and never acting, and below 0 where acting on the forecast
costs more than that. Source: Richardson 2000, doi:10.1002/qj.49712656313, equation 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hydrology.base.arrays import Array

CHANCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The chances at which somebody may act: the lower ends of the tenths of a stored reliability."""
COST_LOSS_RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class ActingAtChance:
    """What followed from acting at each of `CHANCES`, (chances,).

    `base_rate` is the share of the days on which the threshold was passed, above 0 and below 1; `hit_rate` and
    `false_alarm_rate` are the share of these days, and of the others, with action.
    """

    base_rate: float
    hit_rate: Array
    false_alarm_rate: Array

    @classmethod
    def of_tenths(cls, forecast: Sequence[float], observed: Sequence[float], days: Sequence[int]) -> Self | None:
        """Compute it from a reliability by tenths of the chance; None where an event always or never came.

        Each tenth has its mean chance, the share of its days with an event, and their number.
        """
        tenth = np.minimum((np.asarray(forecast) * 10 + 1e-9).astype(int), 9)
        events = np.rint(np.asarray(observed) * np.asarray(days))
        others = np.asarray(days) - events
        if not events.sum() or not others.sum():
            return None
        acts = tenth >= np.arange(1, 10)[:, np.newaxis]
        return cls(
            float(events.sum() / np.sum(days)),
            (acts * events).sum(axis=1) / events.sum(),
            (acts * others).sum(axis=1) / others.sum(),
        )

    def value(self, ratios: Sequence[float] = COST_LOSS_RATIOS) -> Array:
        """Return the relative economic value, (chances, ratios), for ratios of cost over loss within (0, 1)."""
        ratio, rate = np.asarray(ratios), self.base_rate
        hits, alarms = self.hit_rate[:, np.newaxis], self.false_alarm_rate[:, np.newaxis]
        without = np.minimum(ratio, rate)
        expense = ratio * (alarms * (1 - rate) + hits * rate) + rate * (1 - hits)
        return np.asarray((without - expense) / (without - rate * ratio))
