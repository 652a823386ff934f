"""The persistence of errors, and equally likely paths of flow over the days ahead drawn from the error model.

The memory of one day (`hydrology.uncertainty.error_model`) describes how an error fades within days. A part of it fades
far more slowly: too little snow on the ground means too little melt for months. So an error is modelled as the sum of
two autoregressions, a quick and a lasting one, and the lasting one is estimated where the quick one is forgotten.

Each day's flows have that day's distribution; the memory of errors determines how they follow each other: a flow that
is too low today is likely too low tomorrow. So paths give results that single days cannot: the highest day, the sum, or
whether a level is exceeded on any of the days.

The order is that of the sum of two autoregressions, sqrt(1 - w) x + sqrt(w) y with x(l) = m x(l-1) + sqrt(1 - m^2)
e(l), e normal, and y likewise: x is forgotten within days, y lasts for months and has the share w of the variance. Both
together have the error's memory of one day at the flow of day l. With traces of weather a path has an error of its own
about its trace. Each day's values are then those of its distribution, in the order of these flows, as by Clark et al.
2004 (doi:10.1175/1525-7541(2004)005<0243:TSSAMF>2.0.CO;2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hydrology.base.arrays import Array, Integers
from hydrology.uncertainty.error_model import LEVELS, BasinErrors, between_levels, even_flows

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


def paths(errors: BasinErrors, simulated: Array, of_traces: Array, quantiles: Array) -> Array:
    """Draw equally likely paths of flow, (traces x paths of each, leads) in mm/day.

    Simulated flow is (traces, leads), its quantiles (traces, leads, `LEVELS`); those of each day, which the paths of a
    day have, are (leads, `LEVELS`), all in mm/day.
    """
    scores = _scores(errors, simulated)
    shares = (_ranks(scores.reshape(len(scores), -1)).reshape(scores.shape) + 0.5) / scores[0].size
    upper, across = between_levels(np.moveaxis(shares, 0, 1), LEVELS)
    low, high = (np.take_along_axis(of_traces, at, axis=-1) for at in (upper - 1, upper))
    flows = np.moveaxis(low * (1 - across) + high * across, 1, -1)  # (traces, paths of each, leads)
    together = flows.reshape(-1, flows.shape[-1])
    return ordered(together, quantiles, np.moveaxis(scores, 0, -1).reshape(together.shape))


def ordered(flows: Array, quantiles: Array, ties: Array) -> Array:
    """Return paths (paths, leads) with the distribution of each day, (leads, `LEVELS`), in the order of others.

    Equal flows, as of a dry river, are in the order of `ties` (paths, leads). The Schaake shuffle of Clark et al. 2004.
    """
    return np.take_along_axis(even_flows(quantiles, len(flows)), _ranks(flows.T, ties.T), axis=-1).T


def _scores(errors: BasinErrors, simulated: Array) -> Array:
    """Draw the normal scores of errors, (leads, traces, paths of each), as they follow each other."""
    count = -(-MIN_PATHS // len(simulated))
    share, lasts = errors.lasting_share, errors.lasting_memory
    of_a_day = np.interp(simulated, errors.class_flow, errors.memory[0])
    forgets = np.clip((of_a_day - share * lasts) / (1 - share), 0.0, MAX_MEMORY)
    noise = _balanced(np.random.default_rng(SEED).standard_normal((2, simulated.shape[1], len(simulated), count)))
    quick, lasting = noise[:, 0]
    scores = []
    for lead in range(simulated.shape[1]):
        if lead:
            quick = _next(quick, forgets[:, lead, None], noise[0, lead])
            lasting = _next(lasting, lasts, noise[1, lead])
        scores.append(np.sqrt(1 - share) * quick + np.sqrt(share) * lasting)
    return np.stack(scores)


def _balanced(noise: Array) -> Array:
    """Return draws (..., traces, paths of each) of which no two, nor any and the traces, are correlated by chance.

    Where paths are fewer than that takes, they stay as they were drawn.
    """
    of_each, (traces, count) = noise.reshape(-1, *noise.shape[-2:]), noise.shape[-2:]
    if count > 1:
        of_each = of_each - of_each.mean(axis=-1, keepdims=True)
    drawn = of_each.reshape(len(of_each), -1)
    if len(drawn) >= traces * max(count - 1, 1):
        return noise
    spread = np.linalg.cholesky(drawn @ drawn.T / drawn.shape[1])
    return np.asarray(np.linalg.solve(spread, drawn).reshape(noise.shape))


def _next(path: Array, memory: Array | float, noise: Array) -> Array:
    """Return the next day of an autoregression with variance 1."""
    return np.asarray(memory * path + np.sqrt(1 - np.square(memory)) * noise)


def _ranks(values: Array, ties: Array | None = None) -> Integers:
    """Return the ranks of values along the last axis, equal ones in the order of others."""
    keys = (values,) if ties is None else (ties, values)
    return np.lexsort(keys, axis=-1).argsort(axis=-1)
