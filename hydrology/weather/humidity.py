"""Saturation vapour pressure of air."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array


def saturation_vapour_pressure(temperature: npt.ArrayLike) -> Array:
    """Return the saturation vapour pressure over water in Pa, from air temperatures in degC of any shape.

    610.8 · exp(17.27 T / (T + 237.3)), Tetens' form of the Magnus equation. At its dew point it is the air's vapour
    pressure. NaN stays NaN.
    Source: Tetens 1930, as Allen et al. 1998 (FAO paper 56) give it, equations 11 and 14.
    """
    t = np.asarray(temperature, dtype=np.float64)
    return np.asarray(610.8 * np.exp(17.27 * t / (t + 237.3)))
