"""Finds the smallest change of a basin's water that explains the flow of the last days.

Given its gates, a network that conserves mass moves water linearly: a day's outflow is a sum over the places of the
water when those days began (each cell) and the days on which it fell since (each day). Each of these sources may have
held more or less than computed, by a factor. Of the factors that explain the observed flow, those nearest to 1 are
taken, weighed against the error of observations: a least-squares estimate with the sources' factors as its prior (as
in the analysis of a Kalman filter).
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

OBSERVATION_ERROR = 3.0
"""Relative error of a flow, where the prior error of a cell's water is 1: so large that a single day moves little, and
all days together move much."""
MIN_FLOW_SHARE = 0.05
"""Share of a basin's mean flow that is added to a flow before its error is computed."""
RAIN_ERROR = 0.3
"""Relative error of a day's rain, where the prior error of a cell's water is 1."""
LOWEST, HIGHEST = -0.9, 3.0
"""Bounds of a factor, less 1: no source is emptied, and none is more than quadrupled."""


def smallest_factors(responses: Array, misfit: Array, observed: Array, mean_flow: float, cells: int) -> Array:
    """Return the relative change of each source, (samples, sources), from flows in mm/day.

    Args:
        responses: discharge of each day by its source, (samples, days, sources); the first `cells` sources are cells,
            the others days of rain.
        misfit: observed less computed discharge, (samples, days), NaN where nothing was observed.
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
