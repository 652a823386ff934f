"""Splits the variance of forecasts by source: weights, weather and state of T0."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.uncertainty.weighted import weighted_mean

SPREAD_SOURCES = ("weights", "weather", "state")
"""The network's weights (its members), the weather after T0 (its traces), the water in the basin at T0."""


def over_states(discharge: npt.ArrayLike) -> Array:
    """Return mean and variance over the states, (2, members, traces, days), of (members, traces, states, days)."""
    flows = np.asarray(discharge, dtype=np.float64)
    return np.stack([flows.mean(axis=2), flows.var(axis=2)])


def divided_variance(of_states: Array, weights: Array | None = None) -> Array:
    """Return the variance of each day by `SPREAD_SOURCES`, (3, days), from the result of `over_states`.

    The three sum to the total variance. By the law of total variance, in sequence: the members' means differ by their
    weights (of sum 1; None where equal); for one member, the means of its traces by the weather; for one member and
    trace, the forecasts by the state.
    """
    of_traces, within = of_states
    of_members = of_traces.mean(axis=1)
    between = weighted_mean((of_members - weighted_mean(of_members, weights)) ** 2, weights)
    weather = weighted_mean(of_traces.var(axis=1), weights)
    state = weighted_mean(within.mean(axis=1), weights)
    return np.stack([between, weather, state])
