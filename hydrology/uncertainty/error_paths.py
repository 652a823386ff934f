"""The persistence of errors, and equally likely paths of flow over the days ahead drawn from the error model.

The memory of one day (`hydrology.uncertainty.error_model`) describes how an error fades within days. A part of it fades
far more slowly: too little snow on the ground means too little melt for months. So an error is modelled as the sum of
two autoregressions, a quick and a lasting one, and the lasting one is estimated where the quick one is forgotten.

Each day's flows have that day's distribution; the memory of errors determines how they follow each other: a flow that
is too low today is likely too low tomorrow. So paths give results that single days cannot: the highest day, the sum, or
whether a level is exceeded on any of the days.

The order is that of the sum of two autoregressions, sqrt(1 - w) x + sqrt(w) y with x(l) = m x(l-1) + sqrt(1 - m^2)
e(l), e normal, and y likewise: x is forgotten within days, y lasts for months and has the share w of the variance. Both
together have the error's memory of one day at the flow of day l. The values of a day are assigned by the ranks of
another series, as by Clark et al. 2004 (doi:10.1175/1525-7541(2004)005<0243:TSSAMF>2.0.CO;2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hydrology.base.arrays import Array, Integers
from hydrology.uncertainty.error_model import LEVELS, BasinErrors, between_levels

NEAR, FAR = 30, 90
"""Lags in days: after `NEAR` only the lasting part is left, and its decrease until `FAR` gives its memory."""
PRIOR_DAYS = 600
"""Weight of the regional share, in days of a basin: estimated from the agreement between halves of the validation years
in 447 basins."""
MAX_SHARE = 0.9
MAX_MEMORY = 0.995

_NORMAL = NormalDist()
SCORES = np.array([_NORMAL.inv_cdf(level) for level in LEVELS])
"""The value of a standard normal distribution at each of `LEVELS`."""


@dataclass(frozen=True, slots=True)
class Persistence:
    """The lasting part: memory of one day, alike in all basins; share of the variance, of all and by basin."""

    memory: float
    share: float
    shares: Array


def persistence(scores: Sequence[Array]) -> Persistence:
    """Estimate the persistent part of basins' errors; zero without correlation at a month or a season.

    Scores are the errors of consecutive days, transformed to standard normal, (days,), NaN where unknown.
    """
    (sums, counts, near), (_, _, far) = (_products(scores, days) for days in (NEAR, FAR))
    variance = sum(float(np.nansum(of_basin**2)) for of_basin in scores)
    days = sum(int(np.isfinite(of_basin).sum()) for of_basin in scores)
    if not variance or near <= 0 or far <= 0:
        return Persistence(0.0, 0.0, np.zeros(len(scores)))
    memory = min((far / near) ** (1 / (FAR - NEAR)), MAX_MEMORY)
    whole = variance / days * memory**NEAR
    own = (sums + PRIOR_DAYS * near) / (counts + PRIOR_DAYS)
    return Persistence(memory, float(np.clip(near / whole, 0.0, MAX_SHARE)), np.clip(own / whole, 0.0, MAX_SHARE))


def _products(scores: Sequence[Array], apart: int) -> tuple[Array, Integers, float]:
    """Return by basin the sum of products of days at a given lag and their number, and the mean over all basins."""
    products = [of_basin[apart:] * of_basin[:-apart] for of_basin in scores]
    sums = np.array([float(np.nansum(of_basin)) for of_basin in products])
    days = np.array([int(np.isfinite(of_basin).sum()) for of_basin in products])
    return sums, days, float(sums.sum() / max(days.sum(), 1))


MIN_PATHS = 100
"""Minimum number of paths of a forecast; with many traces of weather, several for each."""
SEED = 1


def paths(errors: BasinErrors, simulated: Array, quantiles: Array) -> Array:
    """Draw equally likely paths of flow, (traces x paths of each, leads) in mm/day.

    Simulated flow is (traces, leads), its quantiles (traces, leads, `LEVELS`), in mm/day.
    """
    count = -(-MIN_PATHS // len(simulated))
    chance = np.random.default_rng(SEED)
    share, lasts = errors.lasting_share, errors.lasting_memory
    of_a_day = np.interp(simulated, errors.class_flow, errors.memory[0])
    forgets = np.clip((of_a_day - share * lasts) / (1 - share), 0.0, MAX_MEMORY)
    noise = chance.standard_normal((2, *simulated.shape, count))
    quick, lasting = noise[:, :, 0]
    within = ((chance.permutation(len(simulated)) + 0.5) / len(simulated))[:, None]
    shares = []
    for lead in range(simulated.shape[1]):
        if lead:
            quick = _next(quick, forgets[:, lead, None], noise[0, :, lead])
            lasting = _next(lasting, lasts, noise[1, :, lead])
        shares.append(_shares(np.sqrt(1 - share) * quick + np.sqrt(share) * lasting, within))
    upper, across = between_levels(np.stack(shares, axis=1), LEVELS)
    low, high = (np.take_along_axis(quantiles, at, axis=-1) for at in (upper - 1, upper))
    flows = np.asarray(low * (1 - across) + high * across)  # (traces, leads, count)
    return flows.transpose(0, 2, 1).reshape(-1, simulated.shape[1])


def moved(flows: Array, of: Array, into: Array) -> Array:
    """Return paths (paths, leads) moved from one distribution of each day to another, in the same order.

    Quantiles of both are (leads, `LEVELS`); what lies beyond the last is moved as far as that.
    """
    days = zip(flows.T, of, into, strict=True)
    return np.stack([np.interp(day, one, other) + np.maximum(day - one[-1], 0) for day, one, other in days], axis=-1)


def _next(path: Array, memory: Array | float, noise: Array) -> Array:
    """Return the next day of an autoregression with variance 1."""
    return np.asarray(memory * path + np.sqrt(1 - np.square(memory)) * noise)


def _shares(path: Array, within: Array) -> Array:
    """Return each path's non-exceedance share within its trace, by rank, (traces, count).

    The position `within` two ranks, (traces, 1), differs between traces, so that together they are even.
    """
    ranks = path.argsort(axis=-1).argsort(axis=-1)
    return np.asarray((ranks + within) / path.shape[-1])
