"""Weather made by perturbing what was observed.

Of days to come it stands for weather forecasts where an archive is replayed. Nobody issued them, and they know more of
the truth than a real forecast does: dry days stay dry. They are called perturbed wherever they are shown. Of past days
it stands for what is not known of them: how much fell in a basin between the gauges.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period, month

Array = npt.NDArray[np.float64]

SOURCE = "perturbed-observations"
CREDIT = "Made by perturbing what was observed on those days: nobody issued it as a forecast."

# Standard deviations on the first day ahead; they grow with the root of the lead.
_RAIN = 0.15  # of the logarithm of the factor of precipitation
_WARMTH = 0.6  # degC
_LIGHT = 0.04  # of the logarithm of the factor of radiation
_MEMORY = 0.8  # correlation of the error with that of the day before
_VAPOUR = 0.06  # growth of vapour pressure with each degC, as of saturated air
MONTH_OF_RAIN = 0.13
"""Standard deviation of the logarithm of a month's precipitation in a basin, as products of weather differ about their
long-term ratio (`python -m benchmarks rain-products`)."""


def perturbed(observed: Mapping[str, Array], traces: int, chance: np.random.Generator) -> dict[str, Array]:
    """Return traces of weather (traces, days), each off the observed by errors that grow with the lead.

    Args:
        observed: precipitation, tmax, tmin, srad and vp of the days ahead, (days,) each.
    """
    leads = np.sqrt(np.arange(1, len(observed["precipitation"]) + 1))
    rain, warmth, light = (leads * _errors(chance, traces, len(leads)) for _ in range(3))
    return {
        "precipitation": observed["precipitation"] * np.exp(_RAIN * rain),
        "tmax": observed["tmax"] + _WARMTH * warmth,
        "tmin": observed["tmin"] + _WARMTH * warmth,
        "srad": observed["srad"] * np.exp(_LIGHT * light),
        "vp": observed["vp"] * np.exp(_VAPOUR * _WARMTH * warmth),
    }


def rain_factors(period: Period, count: int, chance: np.random.Generator) -> Array:
    """Return what the precipitation of each day may have been in place of what is kept, (count, days), as factors.

    Those of a calendar month are one number, of mean 1, and those of different months know nothing of each other.
    """
    of_month = month(period.days)
    starts = np.flatnonzero(np.diff(of_month, prepend=of_month[0] - 1))
    lengths = np.diff(np.append(starts, len(of_month)))
    factors = np.exp(MONTH_OF_RAIN * chance.normal(size=(count, len(starts))) - MONTH_OF_RAIN**2 / 2)
    return factors.repeat(lengths, axis=1)


def _errors(chance: np.random.Generator, traces: int, days: int) -> Array:
    """Return errors (traces, days) of standard deviation 1, each day's like the day before's."""
    errors = chance.normal(size=(traces, days))
    for at in range(1, days):
        errors[:, at] = _MEMORY * errors[:, at - 1] + np.sqrt(1 - _MEMORY**2) * errors[:, at]
    return errors
