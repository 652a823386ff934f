"""The errors of weather forecasts by lead, traces of weather around a forecast, and perturbed observations.

The forecast and the weather that came are each replaced by normal scores: their ranks among the weather of the same
days in other years, as values of a standard normal distribution. The scores of both are jointly normal, with a
correlation that falls with the lead (Schaake et al. 2007, doi:10.5194/hess-11-1671-2007, who describe the forecasts of
the US river forecasting service so). Given a forecast of score f, the weather that comes has the score

    r f + sqrt(1 - r^2) y,    y of another year's weather of the same days

With the noise from one other year, days follow each other and variables go together as in weather (Clark et al. 2004,
doi:10.1175/1525-7541(2004)005<0243:TSSAMF>2.0.CO;2). Where r is 1 the trace is the forecast, where it is 0 the other
year.

Perturbed observations replace weather forecasts where an archive is replayed. They were never issued, and are closer to
the truth than a real forecast: dry days stay dry. They are labelled perturbed wherever they are shown. For past days
they represent the uncertainty of a basin's precipitation between the gauges.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, month

TRACES = 30
"""Number of traces around a forecast of fewer."""
BLOCK = 15
"""Days of other years that are ranked together: weather of one season."""
PRIOR_ISSUES = 5
"""Weight of the assumed correlations, in issues of a weather model."""
LITTLE = 0.05
"""Share of the errors' variance that a forecast's own traces may lack."""

_ASSUMED: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"precipitation": (0.85, 7.0), "srad": (0.8, 7.0), "vp": (0.93, 9.0), "daylength": (1.0, np.inf)}
)
_ASSUMED_OF_TEMPERATURE = (0.96, 10.0)


def assumed(variable: str, leads: int) -> Array:
    """Return the correlations by lead, (leads,), of ordinary skill: assumed until a forecast's errors are known."""
    first, days = _ASSUMED.get(variable, _ASSUMED_OF_TEMPERATURE)
    return np.asarray(first * np.exp(-((np.arange(leads) / days) ** 1.5)))


def correlations(variables: Sequence[str], leads: int, issues: Sequence[tuple[Array, Array]]) -> dict[str, Array]:
    """Return the correlation by lead of each variable, (leads,), from past issues and from what is assumed.

    The unexplained variance is the mean of both, weighted by the number of issues of which that lead has come. Scores
    of the forecast and of the weather that came are (basins, leads, variables), NaN where unknown.
    """
    expected = np.stack([assumed(name, leads) for name in variables], axis=-1)
    sums, count = np.zeros((3, leads, len(variables))), np.zeros_like(expected)
    for pair in issues:
        known = np.isfinite(pair[0] + pair[1])
        forecast, came = (np.where(known, scores, 0.0) for scores in pair)
        sums += [(one * other).sum(axis=0) for one, other in ((forecast, came), (forecast, forecast), (came, came))]
        count += known.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = np.clip(sums[0] / np.sqrt(sums[1] * sums[2]), 0.0, 1.0)
    weight = np.where(np.isfinite(seen), count / (count + PRIOR_ISSUES), 0.0)
    unexplained = weight * (1 - np.nan_to_num(seen) ** 2) + (1 - weight) * (1 - expected**2)
    return dict(zip(variables, np.sqrt(1 - unexplained).T, strict=True))


class OtherWeather:
    """The weather of the days ahead in other years, (years, days, variables), among which weather is ranked."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self._ranked = [*_ranked(values)]

    def scores(self, weather: Array, chance: np.random.Generator | None = None) -> Array:
        """Return the normal scores of weather (traces, days, variables); NaN where it is unknown.

        `chance` draws the rank among equal values, such as days without rain; None: the middle of them.
        """
        from scipy.special import ndtri  # imported here: the API reads `SOURCE`, and does not load scipy

        scores = np.empty(weather.shape)
        place = np.full(weather.shape, 0.5) if chance is None else chance.random(weather.shape)
        for days, variable, ranked in self._ranked:
            values = weather[:, days, variable]
            below, upto = (np.searchsorted(ranked, values, side) for side in ("left", "right"))
            share = (below + place[:, days, variable] * (upto - below)) / len(ranked)
            scores[:, days, variable] = ndtri(np.clip(share, 0.5 / len(ranked), 1 - 0.5 / len(ranked)))
        return np.where(np.isfinite(weather), scores, np.nan)

    def weather(self, scores: Array) -> Array:
        """Return the weather of normal scores (traces, days, variables)."""
        from scipy.special import ndtr

        weather = np.empty(scores.shape)
        for days, variable, ranked in self._ranked:
            places = (np.arange(len(ranked)) + 0.5) / len(ranked)
            weather[:, days, variable] = np.interp(ndtr(scores[:, days, variable]), places, ranked)
        return weather

    def beyond(self, weather: Array) -> Array:
        """Return by how much weather (traces, days, variables) lies outside that of all other years."""
        beyond = np.empty(weather.shape)
        for days, variable, ranked in self._ranked:
            values = weather[:, days, variable]
            beyond[:, days, variable] = values - np.clip(values, ranked[0], ranked[-1])
        return beyond


def _ranked(values: Array) -> Iterator[tuple[slice, int, Array]]:
    """Yield each block of days, each variable, and its sorted values."""
    _, days, variables = values.shape
    for first in range(0, days, BLOCK):
        block = slice(first, min(first + BLOCK, days))
        for variable in range(variables):
            yield block, variable, np.sort(values[:, block, variable], axis=None)


def around(forecast: Array, other: OtherWeather, correlation: Array, chance: np.random.Generator) -> Array | None:
    """Return traces of weather around a forecast, both (traces, days, variables).

    None where the forecast's own traces are far enough apart: the errors that they lack are added, and no more. The
    correlation, (days, variables), is of the scores of the traces' mean and of the weather that came.
    """
    unexplained = 1 - correlation**2
    apart, needed = float(other.scores(forecast).var(axis=0).mean()), float(unexplained.mean())
    if apart >= (1 - LITTLE) * needed:
        return None
    traces = max(len(forecast), TRACES)
    repeated = forecast[np.arange(traces) % len(forecast)]
    years = other.values[np.linspace(0, len(other.values) - 1, traces).round().astype(int)]
    added = (1 - apart / needed) * unexplained
    remaining = np.sqrt(1 - added)
    mixed = remaining * other.scores(repeated, chance) + np.sqrt(added) * other.scores(years, chance)
    return other.weather(mixed) + remaining * other.beyond(repeated)


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
