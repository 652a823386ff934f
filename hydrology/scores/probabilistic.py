"""Scores of probabilistic forecasts, from quantiles and observations."""

from collections.abc import Sequence

import numpy as np

from hydrology.base.arrays import Array


def crps(quantiles: Array, levels: Sequence[float], observed: Array) -> Array:
    """Return each day's continuous ranked probability score, (days,), from quantiles (days, levels); 0 is perfect.

    It is, in the unit of the flow, twice the quantile score's integral over the levels (Gneiting and Ranjan 2011,
    doi:10.1198/jbes.2010.08110, equation 12), by the trapezoidal rule: the tails beyond the outer levels do not count.
    """
    level, error = np.asarray(levels), observed[:, np.newaxis] - quantiles
    return np.asarray(2 * np.trapezoid(np.maximum(level * error, (level - 1) * error), level, axis=-1))


def exceedance_probability(quantiles: Array, levels: Sequence[float], threshold: float) -> Array:
    """Return each day's probability that flow exceeds a threshold, (days,), from quantiles (days, levels).

    Between quantiles it is interpolated; beyond the outermost it is their level, because the tails are unknown.
    """
    passed = [np.interp(threshold, of_day, levels) for of_day in quantiles]
    return 1 - np.asarray(passed)


def pit(quantiles: Array, levels: Sequence[float], observed: Array) -> Array:
    """Return the range of levels of observations (days,) among quantiles (days, levels), (days, 2).

    Both ends are equal, the probability integral transform, unless several quantiles equal the observation (a dry
    river): then it may be any value between them (Czado et al. 2009, doi:10.1111/j.1541-0420.2009.01191.x). Between
    quantiles it is interpolated; beyond the outermost it is their level.
    """
    level, last = np.asarray(levels), len(levels) - 1
    between = np.array([np.interp(flow, of_day, level) for flow, of_day in zip(observed, quantiles, strict=True)])
    below, up_to = (quantiles < observed[:, None]).sum(axis=1), (quantiles <= observed[:, None]).sum(axis=1)
    lowest = np.where(below == 0, 0.0, level[np.minimum(below, last)])
    highest = np.where(up_to > last, 1.0, level[np.maximum(up_to - 1, 0)])
    tied = up_to - below > 1
    return np.stack([np.where(tied, lowest, between), np.where(tied, highest, between)], axis=1).reshape(-1, 2)
