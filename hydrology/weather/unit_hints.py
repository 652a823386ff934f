"""Recognises the likely unit of values beyond the possible limits."""

import numpy as np
import numpy.typing as npt

from hydrology.base.variables import IN_DEGREES

KELVIN = (180.0, 340.0)
FAHRENHEIT = (40.0, 140.0)
J_PER_M2 = 1e5


def unit_hint(variable: str, values: npt.ArrayLike) -> str:
    """Return a clause that names the likely unit of values, or nothing where none is likely.

    Args:
        values: of any shape, at least one outside the limits of `hydrology.base.variables.WEATHER`; NaN where missing.
    """
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    unit = _unit(variable, float(np.median(known))) if len(known) else None
    return "" if unit is None else f" (the values look like {unit})"


def _unit(variable: str, median: float) -> str | None:
    if variable in IN_DEGREES:
        if KELVIN[0] <= median <= KELVIN[1]:
            return "kelvin"
        return "°F" if FAHRENHEIT[0] <= median <= FAHRENHEIT[1] else None
    if variable == "srad" and median > 0:
        return "J/m2 a day" if median >= J_PER_M2 else None
    return None
