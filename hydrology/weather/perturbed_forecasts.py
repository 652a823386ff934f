"""Perturbs observed weather.

For days ahead it replaces weather forecasts where an archive is replayed. It was never issued, and it is closer to the
truth than a real forecast: dry days stay dry. It is labelled perturbed wherever it is shown. For past days it
represents the uncertainty of a basin's precipitation between the gauges.
"""

from collections.abc import Mapping

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, month

SOURCE = "perturbed-observations"
CREDIT = "Perturbed observations of those days: nobody issued it as a forecast."

# Standard deviations on the first day ahead; they grow with the root of the lead.
_RAIN = 0.15  # of the logarithm of the factor of precipitation
_WARMTH = 0.6  # degC
_LIGHT = 0.04  # of the logarithm of the factor of radiation
_MEMORY = 0.8  # correlation of the error with that of the day before
_VAPOUR = 0.06  # growth of vapour pressure with each degC, as of saturated air
MONTH_OF_RAIN = 0.13
"""Standard deviation of the logarithm of a month's precipitation in a basin, as weather products differ about their
long-term ratio (`python -m benchmarks rain-products`)."""


def perturbed(observed: Mapping[str, Array], traces: int, chance: np.random.Generator) -> dict[str, Array]:
    """Return traces of observed weather (days,), perturbed by errors that grow with the lead, (traces, days)."""
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
    """Return random factors of daily precipitation, (count, days): one of mean 1 for each calendar month."""
    of_month = month(period.days)
    starts = np.flatnonzero(np.diff(of_month, prepend=of_month[0] - 1))
    lengths = np.diff(np.append(starts, len(of_month)))
    factors = np.exp(MONTH_OF_RAIN * chance.normal(size=(count, len(starts))) - MONTH_OF_RAIN**2 / 2)
    return factors.repeat(lengths, axis=1)


def _errors(chance: np.random.Generator, traces: int, days: int) -> Array:
    """Return errors (traces, days) of standard deviation 1, autocorrelated over the days."""
    errors = chance.normal(size=(traces, days))
    for at in range(1, days):
        errors[:, at] = _MEMORY * errors[:, at - 1] + np.sqrt(1 - _MEMORY**2) * errors[:, at]
    return errors
