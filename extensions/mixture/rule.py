"""The shares of weather models in a mixed forecast, and the mixture of their distributions.

The CRPS of a mixture with the shares w is exactly

    sum_k w_k C_k - sum_{j<k} w_j w_k D_jk

where C is the CRPS of a model alone and D the distance of two models' distributions, the integral of the squared
difference of their cumulative distribution functions (it follows from equation 21 of Gneiting and Raftery 2007,
doi:10.1198/016214506000001437). So models of like skill that differ help each other, and a poor one that adds nothing
is left out. The shares are those of the least CRPS over past issue days, drawn to equal ones: equal at first. C and D
are in units of the lead's mean CRPS; C is less the mean of the models that were judged on the same issue day.

Weather is known before flow, and in all basins: a model whose precipitation came true less often than that of others,
by the variance of its normal scores that the forecasts leave unexplained, is expected to lose as much.

Past issue days are forgotten, those of the same season of earlier years less than those of other seasons. What was
learnt at a lead counts at its neighbours, and at leads whose days have not come; what was learnt in other basins with
the same weather models, which share their errors, counts like the basin's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hydrology.base.arrays import Array
from hydrology.uncertainty.error_model import LEVELS, MIN_FLOWS, even_flows
from hydrology.uncertainty.error_paths import ordered
from hydrology.uncertainty.weighted import weighted_quantiles

PULL = 6.0
"""Of equal shares, in issue days: of their squared difference, times the mean CRPS."""
MEMORY_DAYS = 45.0
"""Age of an issue day at which its losses have the weight 1/e."""
A_YEAR = 365.25
DAYS_OF_A_YEAR = 45.0
"""Age that a year adds to an issue day of the same date."""
LEADS_ALIKE = 2.0
"""Distance of leads, in days, at which what was learnt counts 1/e."""
OF_OTHERS = 0.5
"""Weight of what was learnt in all basins, against the basin's own."""
OF_WEATHER = 30.0
"""Weight of how the models' precipitation came true, in issue days."""
MIN_CRPS = 1e-6
"""mm/day: divisor where a river is dry and was forecast to be."""
FLOWS = 40
"""Number of equally likely flows that represent a distribution where its distance to others is computed."""


def ages(days: Array) -> Array:
    """Return the ages by which issue days are forgotten, from their number of days before T0, (issues,)."""
    years = np.round(days / A_YEAR)
    return np.asarray(np.abs(days - A_YEAR * years) + DAYS_OF_A_YEAR * years)


def distances(quantiles: Array) -> Array:
    """Return the distance of each two models' distributions (models, ..., `LEVELS`), (models, models, ...)."""
    flows = even_flows(quantiles, FLOWS)
    apart = np.array([[_apart(one, other) for other in flows] for one in flows])
    alone = np.einsum("mm...->m...", apart)
    return np.asarray(apart - (alone[:, np.newaxis] + alone) / 2)


def _apart(one: Array, other: Array) -> Array:
    return np.asarray(np.abs(one[..., :, np.newaxis] - other[..., np.newaxis, :]).mean(axis=(-2, -1)))


@dataclass(frozen=True, slots=True)
class Losses:
    """Sums over past issue days, of CRPS (models, leads) and of distances (models, models, leads)."""

    alone: Array
    apart: Array

    @classmethod
    def of(cls, scores: Array, distance: Array, age: Array) -> "Losses":
        """Return the sums of scores (models, issues, leads) and distances (models, models, issues, leads).

        They are NaN where unknown. `age` is (issues,) in days.
        """
        known = np.isfinite(scores)
        weight = (known.sum(axis=0) > 1) * np.exp(-age / MEMORY_DAYS)[:, np.newaxis]
        values = np.where(known, scores, 0.0)
        mean = values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        count = weight.sum(axis=0)
        of_lead = (weight * mean).sum(axis=0) / np.where(count > 0, count, 1.0)
        scale = np.maximum(of_lead, MIN_CRPS)
        alone = (weight * np.where(known, values - mean, 0.0)).sum(axis=1) / scale
        apart = (weight * np.nan_to_num(distance)).sum(axis=2) / scale
        leads = np.arange(scores.shape[-1])
        near = np.exp(-np.abs(leads[:, np.newaxis] - leads) / LEADS_ALIKE) * (count > 0)[:, np.newaxis]
        near = near / np.where(near.any(axis=0), near.sum(axis=0), 1.0)
        return cls(alone @ near, apart @ near)

    @classmethod
    def none(cls, models: int, leads: int) -> "Losses":
        """Return the sums over no issue day."""
        return cls(np.zeros((models, leads)), np.zeros((models, models, leads)))

    @classmethod
    def mean(cls, losses: Sequence["Losses"]) -> "Losses":
        """Return the mean over basins."""
        return cls(*(np.mean([getattr(one, name) for one in losses], axis=0) for name in ("alone", "apart")))

    def shares(self, of_all: "Losses", expected: Array | float = 0.0) -> Array:
        """Return the share of each model by lead, (models, leads), with what was learnt in all basins.

        Those of a lead add up to 1. `expected` are losses to expect by their weather, (models, 1).
        """
        alone = (1 - OF_OTHERS) * self.alone + OF_OTHERS * of_all.alone + expected
        apart = (1 - OF_OTHERS) * self.apart + OF_OTHERS * of_all.apart
        by_lead = zip(np.moveaxis(alone, -1, 0), np.moveaxis(apart, -1, 0), strict=True)
        return np.stack([_least(*of_lead) for of_lead in by_lead], axis=1)


def expected_losses(correlations: Sequence[Sequence[float]], issues: Sequence[int]) -> Array:
    """Return the losses to expect of models, (models, 1), by the correlations of their precipitation with what came.

    They count as far as the model with the fewest past issues was compared: a new one is not judged by what is assumed.
    """
    unexplained = np.array([1 - np.mean(np.square(of_model)) for of_model in correlations])
    weight = OF_WEATHER * min(issues) / max(*issues, 1)
    return np.asarray(weight * (unexplained / max(unexplained.mean(), 1e-9) - 1)[:, np.newaxis])


def _least(alone: Array, apart: Array) -> Array:
    """Return the shares (models,) of the least loss; a model whose share would be below 0 is left out."""
    count, there = len(alone), np.arange(len(alone))
    while True:
        system = np.ones((len(there) + 1, len(there) + 1))
        system[:-1, :-1] = 2 * PULL * np.eye(len(there)) - apart[np.ix_(there, there)]
        system[-1, -1] = 0.0
        found = np.linalg.solve(system, np.append(2 * PULL / count - alone[there], 1.0))[:-1]
        if (found >= 0).all():
            break
        there = there[found > found.min()]
    share = np.zeros(count)
    share[there] = found
    return share


def mixed(quantiles: Array, share: Array) -> Array:
    """Return the quantiles of a mixture, (leads, `LEVELS`), of models (models, leads, `LEVELS`) with shares by lead."""
    of_leads = zip(even_flows(quantiles, MIN_FLOWS // len(quantiles)).swapaxes(0, 1), share.T, strict=True)
    return np.stack([_of_lead(of_lead, of_models) for of_lead, of_models in of_leads])


def _of_lead(flows: Array, share: Array) -> Array:
    """Return the quantiles of flows (models, flows), equally likely within each model."""
    there = share > 0
    weights = np.repeat(share[there] / flows.shape[1], flows.shape[1])
    return weighted_quantiles(flows[there].ravel(), LEVELS, weights)


def drawn(paths: Sequence[Array], quantiles: Array, share: Array) -> Array:
    """Return equally likely paths of a mixture, (paths, leads), as many as the largest number of a model's.

    Each model gives paths by its mean share, (models, leads); their order is that of the paths, and every day has its
    distribution, `quantiles` (leads, `LEVELS`), of the shares of its lead.
    """
    of_models = share.mean(axis=1)
    count = max(map(len, paths))
    ends = np.round(np.cumsum(of_models) * count).astype(int)
    counts = np.diff(ends, prepend=0)
    chosen = [
        of[np.linspace(0, len(of) - 1, number).round().astype(int)] for of, number in zip(paths, counts, strict=True)
    ]
    flows = np.concatenate(chosen)
    return ordered(flows, quantiles, np.broadcast_to(flows.mean(axis=1, keepdims=True), flows.shape))
