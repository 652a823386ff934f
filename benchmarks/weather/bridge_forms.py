"""The forms of a bridge that are compared: each is fitted on some days, and turns weather into another product's."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hydrology.base.arrays import Array
from hydrology.weather.bridge import PRECIPITATION, Corrections, DailyWeather, fit, pooled
from operations.weather.fit_bridges import MIN_NEIGHBOURS

Bridge = Callable[[DailyWeather], DailyWeather]
Form = Callable[[DailyWeather, DailyWeather], Bridge]
Pair = tuple[DailyWeather, DailyWeather]

NONE, STORED, POOLED = "as it is", "stored", "pooled from the other basins"


def _stored(source: DailyWeather, target: DailyWeather) -> Bridge:
    return fit(source, target).apply


def _whole_days(source: DailyWeather, target: DailyWeather) -> Bridge:
    return fit(source, target, offsets=(-1.0, 0.0, 1.0)).apply


def _same_days(source: DailyWeather, target: DailyWeather) -> Bridge:
    return fit(source, target, offsets=(0.0,)).apply


def _of_the_year(source: DailyWeather, target: DailyWeather) -> Bridge:
    return fit(source, target, prior_years=1e9).apply


def _of_months_alone(source: DailyWeather, target: DailyWeather) -> Bridge:
    return fit(source, target, prior_years=0.0).apply


def _quantiles(source: DailyWeather, target: DailyWeather) -> Bridge:
    """The stored form, with the quantiles of precipitation mapped; above the highest one, by the factor of that."""
    corrections = fit(source, target)
    bridged = corrections.apply(source).values[PRECIPITATION]
    days = np.isfinite(bridged) & source.complete & target.complete
    levels = np.linspace(0, 1, 201)
    theirs = np.quantile(target.values[PRECIPITATION][days], levels)
    ours = np.quantile(bridged[days], levels)

    def mapped(depth: Array) -> Array:
        inside = np.interp(depth, ours, theirs)
        above = np.where(depth > ours[-1], depth * theirs[-1] / ours[-1], inside)
        return np.where(depth > 0, above, depth)

    def apply(weather: DailyWeather) -> DailyWeather:
        out = corrections.apply(weather)
        return DailyWeather(out.first, dict(out.values) | {PRECIPITATION: mapped(out.values[PRECIPITATION])})

    return apply


FORMS: Mapping[str, Form] = {
    STORED: _stored,
    "stored, days whole": _whole_days,
    "stored, same days": _same_days,
    "stored, one correction a year": _of_the_year,
    "stored, months by themselves": _of_months_alone,
    "stored, quantiles of rain mapped": _quantiles,
}


def bridges(basin: str, pairs: Mapping[str, Pair]) -> dict[str, Bridge]:
    """Return each form's bridge of a basin, and the one that is pooled from the others where they are enough.

    Args:
        pairs: the weather of two products on the days to fit on, by basin.
    """
    own = {NONE: lambda weather: weather} | {name: form(*pairs[basin]) for name, form in FORMS.items()}
    others: Sequence[Corrections] = [fit(*pair) for other, pair in pairs.items() if other != basin]
    return own | ({POOLED: pooled(others).apply} if len(others) >= MIN_NEIGHBOURS else {})
