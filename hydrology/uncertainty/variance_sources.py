"""Splits the variance of forecasts by source: weights, weather and state of T0."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array

SPREAD_SOURCES = ("weights", "weather", "state")
"""The network's weights (its members), the weather after T0 (its traces), the water in the basin at T0."""


def divided_variance(discharge: npt.ArrayLike) -> Array:
    """Return the variance of each day by `SPREAD_SOURCES`, (3, days).

    The three sum to the total variance. By the law of total variance, in sequence: the members' means differ by their
    weights; for one member, the means of its traces by the weather; for one member and trace, the forecasts by the
    state.

    Args:
        discharge: of every member with every trace from every state, (members, traces, states, days).
    """
    flows = np.asarray(discharge, dtype=np.float64)
    of_traces = flows.mean(axis=2)
    of_members = of_traces.mean(axis=1)
    weights = of_members.var(axis=0)
    weather = of_traces.var(axis=1).mean(axis=0)
    state = flows.var(axis=2).mean(axis=(0, 1))
    return np.stack([weights, weather, state])
