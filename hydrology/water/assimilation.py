"""The smallest change of the water in a basin that explains the flow observed on the last days.

Given its gates, a network that conserves mass moves water linearly: what flows out on a day is a sum over where the
water was when those days began (each cell) and when it fell (each day since). Each of these sources may have held more
or less than was computed, by a factor. Of the factors that explain the observed flow, those nearest to 1 are taken,
weighed against how far an observation may be off: a least-squares estimate with the sources' factors as its prior (as
in the analysis of a Kalman filter).
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

OBSERVATION_ERROR = 3.0
"""How far flow may be off what is explained, over itself, where a cell may hold twice or none of what was computed: so
much larger, that one day alone moves little and what all days say together moves much."""
MIN_FLOW_SHARE = 0.05
"""Of a basin's mean flow: so much is added to a flow before its error is taken from it."""
RAIN_ERROR = 0.3
"""How far the rain of a day may be off, over itself, where a cell may hold twice or none of what was computed."""
LOWEST, HIGHEST = -0.9, 3.0
"""Bounds of a factor, less 1: no source is emptied, and none is more than quadrupled."""


def smallest_factors(responses: Array, misfit: Array, observed: Array, mean_flow: float, cells: int) -> Array:
    """Return by how much of itself each source is to change, (samples, sources).

    Args:
        responses: discharge of each day by its source, (samples, days, sources), mm/day; the first `cells` sources are
            cells, the others days of rain.
        misfit: observed less computed discharge, (samples, days), NaN where nothing was observed.
        observed: (samples, days), mm/day.
        mean_flow: of the basin, mm/day.
    """
    prior = np.ones(responses.shape[-1])
    prior[cells:] = RAIN_ERROR
    known = np.isfinite(misfit)
    response = np.where(known[..., None], responses, 0.0)
    error = OBSERVATION_ERROR * (observed + MIN_FLOW_SHARE * mean_flow)
    variance = np.where(known, error, 1.0) ** 2
    covariance = np.einsum("ndg,g,neg->nde", response, prior**2, response)
    covariance += np.eye(responses.shape[1]) * variance[:, :, None]
    weights = np.linalg.solve(covariance, np.where(known, misfit, 0.0)[..., None])[..., 0]
    factors: Array = np.einsum("g,ndg,nd->ng", prior**2, response, weights)
    return np.clip(factors, LOWEST, HIGHEST)
