"""The shares of weather models in a mixed forecast, and the mixture of their distributions.

A model's loss is the CRPS of its own past forecasts, less the mean of the models that were judged on the same issue
day, in units of the mean CRPS of that lead. The shares follow from the sums of these losses, L, as exp(-`RATE` L),
normalised: the exponentially weighted average, which Thorey et al. 2017 (doi:10.1002/qj.2940) apply to the CRPS of
ensembles. They are equal at first. The CRPS of a mixture is at most the same mean of the CRPS of its parts, and the sum
of losses of such shares stays near that of the best model from the first issue day on, without a period of learning.

Losses are forgotten, those of the same season of earlier years less than those of other seasons; what was learnt at a
lead counts at its neighbours.
"""

from collections.abc import Sequence

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.error_model import LEVELS, MIN_FLOWS, between_levels, even_levels
from hydrology.uncertainty.error_paths import moved
from hydrology.uncertainty.weighted import weighted_quantiles

RATE = 1.0
"""Larger: shares move further from equal ones with each issue day."""
MEMORY_DAYS = 45.0
"""Age of an issue day at which its losses have the weight 1/e."""
A_YEAR = 365.25
DAYS_OF_A_YEAR = 45.0
"""Age that a year adds to an issue day of the same date."""
LEADS_ALIKE = 2.0
"""Distance of leads, in days, at which a loss counts 1/e."""


def ages(days: Array) -> Array:
    """Return the ages by which issue days are forgotten, from their number of days before T0, (issues,)."""
    years = np.round(days / A_YEAR)
    return np.asarray(np.abs(days - A_YEAR * years) + DAYS_OF_A_YEAR * years)


def shares(scores: Array, age: Array) -> Array:
    """Return the share of each weather model by lead, (models, leads); those of a lead add up to 1.

    Scores are the CRPS of past forecasts, (models, issues, leads), NaN where unknown; `age` is (issues,) in days.
    """
    known = np.isfinite(scores)
    beside = known & (known.sum(axis=0) > 1)
    weight = beside * np.exp(-age / MEMORY_DAYS)[:, np.newaxis]
    values = np.where(known, scores, 0.0)
    mean = np.broadcast_to(values.sum(axis=0) / np.maximum(known.sum(axis=0), 1), values.shape)
    of_lead = (weight * mean).sum(axis=(0, 1)) / np.maximum(weight.sum(axis=(0, 1)), 1e-12)
    losses = (weight * (values - mean)).sum(axis=1) / np.where(of_lead > 0, of_lead, 1.0)
    leads = np.arange(scores.shape[-1])
    near = np.exp(-np.abs(leads[:, np.newaxis] - leads) / LEADS_ALIKE)
    log_shares = -RATE * losses @ (near / near.sum(axis=0))
    raised = np.exp(log_shares - log_shares.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


def mixed(quantiles: Array, share: Array) -> Array:
    """Return the quantiles of a mixture, (leads, `LEVELS`), of models (models, leads, `LEVELS`) with shares by lead."""
    even = even_levels(MIN_FLOWS // len(quantiles))
    upper, across = between_levels(even, LEVELS)
    flows = quantiles[..., upper - 1] * (1 - across) + quantiles[..., upper] * across
    of_leads = zip(flows.swapaxes(0, 1), share.T, strict=True)
    return np.stack([_of_lead(of_lead, of_models) for of_lead, of_models in of_leads])


def _of_lead(flows: Array, share: Array) -> Array:
    """Return the quantiles of flows (models, flows), equally likely within each model."""
    there = share > 0
    weights = np.repeat(share[there] / flows.shape[1], flows.shape[1])
    return weighted_quantiles(flows[there].ravel(), LEVELS, weights)


def drawn(paths: Sequence[Array], quantiles: Array, share: Array, into: Array) -> Array:
    """Return equally likely paths of a mixture, (paths, leads), as many as the largest number of a model's.

    Each model gives paths by its mean share; they are moved so that every day has the distribution `into`, (leads,
    `LEVELS`), of the shares of its lead.
    """
    of_models = share.mean(axis=1)
    count = max(map(len, paths))
    ends = np.round(np.cumsum(of_models) * count).astype(int)
    counts = np.diff(ends, prepend=0)
    chosen = [
        of[np.linspace(0, len(of) - 1, number).round().astype(int)] for of, number in zip(paths, counts, strict=True)
    ]
    alike = np.repeat((counts / count)[:, np.newaxis], share.shape[1], axis=1)
    return moved(np.concatenate(chosen), mixed(quantiles, alike), into)
