"""Reforecasts with observed weather by lead, beside their rivals (climatology, persistence).

With observed weather a forecast equals the simulation, because the state of T0 is the simulation's own: one simulation
contains the forecasts of every T0 and lead. Forecasts start on days with observed flow, so that each lead has a single
gap to the last observed flow.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.calendar import Days
from hydrology.climatology.flow_climatology import FlowClimatology
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel, errors_of
from hydrology.uncertainty.weighted import weighted_mean, weighted_quantiles
from hydrology.verification.forecast_scores import Array, ForecastScores
from hydrology.verification.verify import CLIMATOLOGY, PERSISTENCE, score_all

Places = np.ndarray[tuple[int], np.dtype[np.int64]]

CALIBRATED, RAW = "calibrated", "raw"
FORECASTERS = (CALIBRATED, RAW, CLIMATOLOGY, PERSISTENCE)
"""The error model's quantiles, the raw spread of the members, the flow of other years, the last observed flow."""


@dataclass(frozen=True, slots=True)
class AtLead:
    """The forecasts of one lead, (forecasts,) each, flows in mm/day.

    Attributes:
        simulated: the members' mean.
        last_observed: the flow of T0.
        quantiles: at `LEVELS`, (forecasts, levels), by forecaster; or why there are none.
    """

    days: Days
    observed: Array
    simulated: Array
    last_observed: Array
    quantiles: Mapping[str, Array | Absent]

    def judged(self, threshold: float) -> dict[str, ForecastScores | Absent]:
        """Return the scores of each of `FORECASTERS`, with the threshold of warnings in mm/day."""
        return score_all(self.quantiles, self.last_observed, self.observed, threshold)


@dataclass(frozen=True, slots=True)
class Reforecasts:
    """A basin's reforecasts: simulated (members, days) and observed (days,) flow, mm/day, NaN where missing.

    Weights are (members,), of sum 1; None where all are equal.
    """

    days: Days
    members: Array
    observed: Array
    climatology: FlowClimatology
    error_model: BasinErrorModel | Absent
    weights: Array | None = None

    def at(self, lead: int, every: int) -> AtLead:
        """Return the forecasts at a lead of every n-th day, where the flow of both days is observed."""
        t0 = np.arange(0, len(self.days) - lead, every)
        t0 = t0[np.isfinite(self.observed[t0] + self.observed[t0 + lead])]
        ahead = t0 + lead
        simulated = weighted_mean(self.members, self.weights)
        quantiles = {
            CALIBRATED: self._calibrated(simulated, t0, lead),
            RAW: weighted_quantiles(self.members[:, ahead], LEVELS, self.weights).T,
            CLIMATOLOGY: self.climatology.quantiles(self.days[ahead]),
        }
        return AtLead(self.days[ahead], self.observed[ahead], simulated[ahead], self.observed[t0], quantiles)

    def _calibrated(self, simulated: Array, t0: Places, lead: int) -> Array | Absent:
        if isinstance(self.error_model, Absent):
            return self.error_model
        last_error = errors_of(self.error_model.errors, simulated[t0], self.observed[t0])
        return self.error_model.quantiles(simulated[t0 + lead], np.full(len(t0), float(lead)), last_error)
