"""Bridges: convert the daily weather of one product to that of another, such as a network's training product.

Two products of the same weather differ by their means, month by month, and by the start of their days: CAMELS' Daymet
assigns to the next day most of what Maurer assigns to this one. Of the forms compared on held-out days
(docs/understand/bridge.md), this one did best: the start of the day is fitted in tenths of a day, precipitation,
radiation and vapour pressure get factors, temperatures get steps, and a month's own correction counts the more, the
more years it was seen in. A bridge is fitted on the common days of two products, and judged on held-out years.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Day, Days, Period, days_between, month, water_year
from hydrology.base.doc import Doc
from hydrology.base.errors import DataProblem, counted

PRECIPITATION = "precipitation"
SCALED = (PRECIPITATION, "srad", "vp")
MOVED = ("tmax", "tmin")
BRIDGED = (*SCALED, *MOVED)
"""The variables that a bridge converts."""


@dataclass(frozen=True, slots=True)
class DailyWeather:
    """Daily weather of one place, (..., days) by `BRIDGED`, in the units of `WEATHER`; NaN where missing."""

    first: Day
    values: Mapping[str, Array]

    @property
    def period(self) -> Period:
        return Period(self.first, self.first + np.timedelta64(self.values[PRECIPITATION].shape[-1] - 1, "D"))

    @property
    def complete(self) -> Mask:
        """Where no variable is missing, (..., days)."""
        return np.asarray(np.logical_and.reduce([np.isfinite(values) for values in self.values.values()]))

    def over(self, period: Period) -> Self:
        """Return the weather of a period; days that it lacks are NaN."""
        places = np.arange(len(period)) + days_between(self.first, period.first)
        return type(self)(period.first, {name: _at(values, places) for name, values in self.values.items()})


@dataclass(frozen=True, slots=True)
class Corrections:
    """The corrections from the weather of one product to that of another.

    Attributes:
        day_offset: how much earlier the days of the first product begin than those of the other of the same date, in
            days: at 0.8, day t of the other has 20 % of its day t and 80 % of its day t + 1. Above 0 the precipitation
            of a day is known only when the next day is.
        factors, steps: of `SCALED`, and of `MOVED` in degC, from January to December.
        limited: the variables with a month at a limit.
    """

    day_offset: float
    factors: Mapping[str, tuple[float, ...]]
    steps: Mapping[str, tuple[float, ...]]
    limited: tuple[str, ...] = ()

    @property
    def days_after(self) -> int:
        """Number of following days that must be known for a day's precipitation."""
        return max(int(np.ceil(self.day_offset)), 0)

    def apply(self, weather: DailyWeather) -> DailyWeather:
        """Convert weather to the other product.

        A day whose own and neighbouring days are dry stays dry; no value is negative; where tmin would be above tmax,
        both are their mean. Precipitation is NaN where a day that contributes to it is unknown: it is never guessed.
        """
        months = month(weather.period.days) - 1
        values = dict(weather.values)
        values[PRECIPITATION] = shared_out(values[PRECIPITATION], self.day_offset)
        bridged = {name: values[name] * np.array(factors)[months] for name, factors in self.factors.items()}
        bridged |= {name: values[name] + np.array(steps)[months] for name, steps in self.steps.items()}
        crossed = bridged["tmin"] > bridged["tmax"]
        middle = (bridged["tmin"] + bridged["tmax"]) / 2
        return DailyWeather(weather.first, bridged | {name: np.where(crossed, middle, bridged[name]) for name in MOVED})


@dataclass(frozen=True, slots=True)
class Likeness:
    """Agreement of a variable with the other product's."""

    bias: Annotated[float, Doc("Of the mean: relative (0.1 is 10 % too much); for temperatures in °C.")]
    correlation: Annotated[float | None, Doc("Of the daily values; null where one side is constant.")]


@dataclass(frozen=True, slots=True)
class VariableSkill:
    """Agreement of a variable on days not used in fitting."""

    as_it_is: Likeness
    bridged: Likeness


@dataclass(frozen=True, slots=True)
class Skill:
    """Skill of a bridge by cross-validation over water years."""

    days: int
    variables: Mapping[str, VariableSkill]


def shared_out(depth: Array, day_offset: float) -> Array:
    """Distribute daily depths (..., days) over days that begin later by an offset; NaN where one is unknown."""
    whole = int(np.floor(day_offset))
    places, later = np.arange(depth.shape[-1]) + whole, day_offset - whole
    return (1 - later) * _at(depth, places) + later * _at(depth, places + 1) if later else _at(depth, places)


def _at(values: Array, places: Integers) -> Array:
    """Return the values at places of the last axis, NaN outside it."""
    inside = (places >= 0) & (places < values.shape[-1])
    return np.where(inside, values[..., np.where(inside, places, 0)], np.nan)


MIN_DAYS_OF_MONTH = 50
"""Days of each calendar month that both products must have: two Februaries, less what the shift takes."""
OFFSETS = tuple(tenths / 10 for tenths in range(-10, 11))
"""Possible offsets between the starts of the two products' days, in days."""
PRIOR_YEARS = 20.0
"""Years of the whole-year correction that are pooled with those of each month: a month seen in twenty years has half
the weight."""

_CLEARER = 0.02  # minimum gain in correlation for an offset to be used
_FACTORS = (0.5, 2.0)
_MAX_STEP = 15.0  # degC
_MAX_FOLDS = 5
_MONTHS = 12


class TooFewDays(DataProblem):
    """The two products have too few days in common to fit a bridge."""


def fit(
    source: DailyWeather, target: DailyWeather, *, offsets: Sequence[float] = OFFSETS, prior_years: float = PRIOR_YEARS
) -> Corrections:
    """Fit the corrections from one product's weather to another's, (days,), on their common days.

    They preserve the sum of precipitation over those days, unless a month reaches a limit. TooFewDays: a calendar month
    has fewer than `MIN_DAYS_OF_MONTH` days in common, or no rain falls in one.
    """
    source, target = _on_the_same_days(source, target)
    return _fit(source, target, _usable(source, target), offsets, prior_years)


def held_out(source: DailyWeather, target: DailyWeather) -> Skill:
    """Return a bridge's skill on held-out water years, in at most five parts."""
    source, target = _on_the_same_days(source, target)
    usable = _usable(source, target)
    values = {name: np.full(len(usable), np.nan) for name in BRIDGED}
    for part in _parts(source.period.days, usable):
        of_others = _fit(source, target, usable & ~part, OFFSETS, PRIOR_YEARS).apply(source)
        for name in BRIDGED:
            values[name][part] = of_others.values[name][part]
    bridged = DailyWeather(source.first, values)
    judged = usable & bridged.complete
    variables = {
        name: VariableSkill(
            *(_likeness(name, series.values[name][judged], target.values[name][judged]) for series in (source, bridged))
        )
        for name in BRIDGED
    }
    return Skill(int(judged.sum()), variables)


def pooled(others: Sequence[Corrections]) -> Corrections:
    """Return the pooled bridge of a basin with too few years.

    The medians over similar basins. The day offset is the middle one of theirs, so that it is an actual one.
    """
    return Corrections(
        float(np.quantile([other.day_offset for other in others], 0.5, method="lower")),
        {name: _median([np.log(other.factors[name]) for other in others], np.exp) for name in SCALED},
        {name: _median([np.array(other.steps[name]) for other in others]) for name in MOVED},
        tuple(sorted({name for other in others for name in other.limited})),
    )


def _on_the_same_days(source: DailyWeather, target: DailyWeather) -> tuple[DailyWeather, DailyWeather]:
    shared = source.period.overlap(target.period)
    if shared is None:
        raise TooFewDays(f"One product has {source.period} and the other {target.period}: no day in common.")
    return source.over(shared), target.over(shared)


def _usable(source: DailyWeather, target: DailyWeather) -> Mask:
    """Return the days on which both products are complete; raise `TooFewDays` as `fit` does."""
    usable: Mask = source.complete & target.complete
    counts = np.bincount(month(source.period.days[usable]) - 1, minlength=_MONTHS)
    if counts.min() < MIN_DAYS_OF_MONTH:
        raise TooFewDays(
            f"The two products have {counted(int(counts.sum()), 'day')} in common, {int(counts.min())} of month "
            f"{int(counts.argmin()) + 1}, and {MIN_DAYS_OF_MONTH} of each are needed: fetch or ingest two years more."
        )
    if not all(series.values[PRECIPITATION][usable].sum() > 0 for series in (source, target)):
        raise TooFewDays("No rain falls in one of the products on the days that both have: there is nothing to fit.")
    return usable


def _fit(
    source: DailyWeather, target: DailyWeather, usable: Mask, offsets: Sequence[float], prior_years: float
) -> Corrections:
    day_offset = _day_offset(source.values[PRECIPITATION], target.values[PRECIPITATION], usable, offsets)
    given = dict(source.values) | {PRECIPITATION: shared_out(source.values[PRECIPITATION], day_offset)}
    days = usable & np.isfinite(given[PRECIPITATION])
    months = month(source.period.days[days]) - 1
    prior = prior_years / (days.sum() / 365.25)
    corrections: dict[str, tuple[float, ...]] = {}
    limited = []
    for name in BRIDGED:
        estimate, limits = (_factors, _FACTORS) if name in SCALED else (_steps, (-_MAX_STEP, _MAX_STEP))
        unlimited = estimate(given[name][days], target.values[name][days], months, prior)
        corrections[name] = tuple(np.clip(unlimited, *limits).tolist())
        if corrections[name] != tuple(unlimited.tolist()):
            limited.append(name)
    factors, steps = ({name: corrections[name] for name in names} for names in (SCALED, MOVED))
    return Corrections(day_offset, factors, steps, tuple(limited))


def _day_offset(had: Array, wanted: Array, usable: Mask, offsets: Sequence[float]) -> float:
    """Return the offset with the highest correlation, or none unless that is clearly higher than without."""
    correlations = {}
    for offset in offsets:
        moved = shared_out(had, offset)
        days = usable & np.isfinite(moved)
        correlations[offset] = _correlation(moved[days], wanted[days]) or 0.0
    best = max(correlations, key=lambda offset: (correlations[offset], -abs(offset)))
    return best if correlations[best] - correlations.get(0.0, -1.0) > _CLEARER else 0.0


def _factors(had: Array, wanted: Array, months: Integers, prior: float) -> Array:
    """Return the ratio of sums of each month, shrunk to the year's (by `prior` mean months); they preserve the sum."""
    given, asked = _of_months(had, months), _of_months(wanted, months)
    if not given.sum():
        return np.ones(_MONTHS)
    ratio = asked.sum() / given.sum()
    for_the_year = prior * given.mean()
    shrunk = (asked + ratio * for_the_year) / (given + for_the_year)
    return np.asarray(shrunk * (asked.sum() / (shrunk * given).sum()))


def _steps(had: Array, wanted: Array, months: Integers, prior: float) -> Array:
    """Return the mean difference of each month, shrunk to that of the year."""
    days, differences = _of_months(np.ones_like(had), months), _of_months(wanted - had, months)
    for_the_year = prior * days.mean()
    return np.asarray((differences + for_the_year * (wanted - had).mean()) / (days + for_the_year))


def _of_months(values: Array, months: Integers) -> Array:
    return np.array([values[months == number].sum() for number in range(_MONTHS)])


def _parts(days: Days, usable: Mask) -> Iterator[Mask]:
    """Yield the masks of held-out days, water year by water year."""
    years = water_year(days)
    seen = np.unique(years[usable])
    for first in range(min(_MAX_FOLDS, len(seen))):
        yield np.isin(years, seen[first::_MAX_FOLDS])


def _likeness(name: str, had: Array, wanted: Array) -> Likeness:
    bias = had.mean() / wanted.mean() - 1 if name in SCALED else had.mean() - wanted.mean()
    return Likeness(float(bias), _correlation(had, wanted))


def _correlation(one: Array, other: Array) -> float | None:
    if len(one) < 2 or not (one.std() > 0 and other.std() > 0):
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _median(values: Sequence[Array], back: Callable[[Array], Array] = np.asarray) -> tuple[float, ...]:
    return tuple(back(np.median(values, axis=0)).tolist())
