"""Means and quantiles over members, of equal weight or not, and the variance of forecasts by source."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array


def weighted_mean(values: npt.NDArray[Any], weights: Array | None) -> Array:
    """Return the mean over the first axis, members, in float64; weights have the sum 1, None where all are equal."""
    if weights is None:
        return np.asarray(values.mean(axis=0, dtype=np.float64))
    return np.asarray(np.einsum("m,m...->...", weights, values.astype(np.float64)))


def mean_by_shares(values: Sequence[npt.NDArray[Any]], shares: Sequence[float]) -> Array:
    """Return the mean of arrays of one shape by their shares, of any sum; that of a single one is its values."""
    weights = np.array(shares)
    return weighted_mean(np.stack(values), weights / weights.sum())


def weighted_quantiles(values: npt.NDArray[Any], levels: float | Sequence[float], weights: Array | None) -> Array:
    """Return quantiles over the first axis, (levels, ...), or (...) for one level.

    The k-th smallest value is the quantile of level 0 for the first and 1 for the last; in between, levels grow with
    the mean weight of neighbours (above 0, of sum 1). With equal weights, or None, this is the definition of type 7
    [Hyndman and Fan 1996], numpy's own.
    """
    if weights is None:
        return np.asarray(np.quantile(values, levels, axis=0))
    asked, rows = np.atleast_1d(np.asarray(levels, dtype=np.float64)), values.reshape(len(values), -1)
    of_rows = np.broadcast_to(weights[:, np.newaxis], rows.shape)
    order = np.lexsort((of_rows, rows), axis=0)  # equal values by their weight, so that members may change places
    ordered, of_each = np.take_along_axis(rows, order, axis=0).astype(np.float64), weights[order]
    steps = (of_each[1:] + of_each[:-1]) / 2
    places = np.concatenate([np.zeros((1, rows.shape[1])), steps.cumsum(axis=0)])
    places /= np.where(places[-1] > 0, places[-1], 1)
    columns = [np.interp(asked, place, column) for place, column in zip(places.T, ordered.T, strict=True)]
    found = np.stack(columns, axis=-1) if columns else np.empty((len(asked), 0))
    shaped = found.reshape(len(asked), *values.shape[1:])
    return shaped[0] if np.ndim(levels) == 0 else shaped


def of_traces(weights: Array | None, traces: int) -> Array | None:
    """Return weights (of sum 1; None: equal) of every member with each of its traces, (members x traces,)."""
    return None if weights is None else np.repeat(weights / traces, traces)


def reached_by_shares(values: npt.NDArray[Any], shares: Sequence[float], weights: Array | None) -> list[float]:
    """Return the smallest value, infinity for never, that at least each share of the members does not exceed."""
    order = np.argsort(values, kind="stable")
    of_each = np.full(len(values), 1 / len(values)) if weights is None else weights
    places = np.searchsorted(of_each[order].cumsum(), np.asarray(shares) - 1e-9)  # rounding does not add a member
    found: list[float] = values[order][np.minimum(places, len(values) - 1)].tolist()
    return found


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
