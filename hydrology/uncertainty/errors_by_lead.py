"""Errors of issued forecasts by lead, fitted as `hydrology.uncertainty.error_fit` fits those of simulations.

With a weather forecast the error grows with the lead for two reasons, the network's and the weather's. Past forecasts
with the same weather model, paired with observations, contain both.
"""

from dataclasses import dataclass

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.error_fit import by_class
from hydrology.uncertainty.error_model import BasinErrors, errors_of

HALF_WEIGHT = 90
"""Issue days after which the errors of issued forecasts count as much as the provisional distribution: a season."""


def weight_of(issue_days: int) -> float:
    """Return the weight of errors fitted to the forecasts of some issue days, against the provisional distribution."""
    return issue_days / (issue_days + HALF_WEIGHT)


@dataclass(frozen=True, slots=True, eq=False)
class PastForecasts:
    """Issued forecasts of a basin, mm/day.

    Attributes:
        of_simulation: the errors of its simulation, which scale its flows.
        forecast: (T0, leads), the mean of members and traces.
        observed: (T0, leads), NaN where flow was not observed.
        last_error: (T0,), `errors_of` T0; NaN where flow was not observed.
    """

    of_simulation: BasinErrors
    forecast: Array
    observed: Array
    last_error: Array

    @property
    def mean_flow(self) -> float:
        """Mean flow of the simulation, mm/day."""
        return self.of_simulation.mean_flow

    @property
    def class_flow(self) -> Array:
        """The median simulated flow of each class, mm/day."""
        return self.of_simulation.class_flow

    @property
    def observed_days(self) -> int:
        """Number of T0 with a forecast of at least one observed day."""
        return int(np.isfinite(self.observed).any(axis=1).sum())

    def before(self, gap: int | None) -> tuple[list[Array], list[Array]]:
        """Return the errors at the lead of a gap by class, and those of T0; without a gap of all leads, and zeros.

        A gap beyond the longest lead uses the longest.
        """
        if gap is None:
            forecast, observed = self.forecast.ravel(), self.observed.ravel()
            earlier = np.zeros(len(forecast))
        else:
            lead = min(gap, self.forecast.shape[1]) - 1
            forecast, observed, earlier = self.forecast[:, lead], self.observed[:, lead], self.last_error
        errors = errors_of(self.of_simulation, forecast, observed)
        return by_class(np.abs(forecast[:, None] - self.class_flow).argmin(axis=1), errors, earlier)
