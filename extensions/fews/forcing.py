"""Converts series to the weather that networks take. Gap-free rows by ensemble member, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from extensions.fews.series import Days, ImportedSeries
from hydrology.base.errors import InvalidInput, excerpt
from hydrology.base.products import WEATHER
from hydrology.weather.quality import fill_short_gaps
from hydrology.weather.runoff import unit_hint
from models.forcing import Array

_UNITS = {
    "mm/day": {"mm/day", "mm/d", "mmd-1", "mmday-1", "mm"},
    "degC": {"degc", "c", "°c", "oc", "celsius", "degrees_celsius", "degree_celsius"},
    "W/m2": {"w/m2", "w/m^2", "wm-2"},
    "Pa": {"pa"},
    "s": {"s"},
}
"""Spellings of our units, without blanks and in lower case. A daily sum may be given in mm."""
_ANY_KIND = ("tmax", "tmin")  # a daily extreme occurs at one instant, which the day's stamp does not show


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The members of the weather ensemble; (None,) for a single weather."""

    name: str | None
    members: tuple[str | None, ...]


@dataclass(slots=True)
class Weather:
    """The given weather of one location, with the number of values flagged doubtful and unreliable.

    `series` has daily values by parameter and member, None for no member.
    """

    series: dict[tuple[str, str | None], Array] = field(default_factory=dict)
    doubtful: int = 0
    unreliable: int = 0


def of_product(given: Iterable[ImportedSeries], product: str) -> list[ImportedSeries]:
    """Return the series for a product: those that name it, and of other parameters of a location those without any."""
    named = [series for series in given if series.product == product]
    there = {(series.location, series.parameter) for series in named}
    shared = [one for one in given if one.product is None and (one.location, one.parameter) not in there]
    return [*named, *shared]


def gathered(given: Iterable[ImportedSeries], names: Sequence[str], days: Days) -> dict[str, Weather]:
    """Return each location's weather over the days of a run, NaN where not given; other parameters are ignored."""
    locations: dict[str, Weather] = {}
    for series in given:
        if series.parameter not in names:
            continue
        _check(series)
        places = days.places(series.stamps)
        inside = (places >= 0) & (places < len(days.period))
        values = np.full(len(days.period), np.nan, np.float32)
        values[places[inside]] = series.values[inside]
        weather = locations.setdefault(series.location, Weather())
        weather.doubtful += series.doubtful
        weather.unreliable += series.unreliable
        key = series.parameter, series.member
        if key in weather.series or len(np.unique(places)) < len(places):
            raise InvalidInput(f"{series.parameter} of {series.location} comes twice, or a day of it: give it once.")
        weather.series[key] = values
    return locations


def ensemble_of(given: Iterable[ImportedSeries]) -> Ensemble:
    """Return the members of the forcing, in their order."""
    series = [one for one in given if one.member is not None]
    names = {one.ensemble for one in series} - {None}
    if len(names) > 1:
        raise InvalidInput("The forcing is of several ensembles: give those of one, and run the others by themselves.")
    members = tuple(dict.fromkeys(one.member for one in series))
    return Ensemble(names.pop() if names else None, members or (None,))


def rows(
    weather: Weather, names: Sequence[str], ensemble: Ensemble, days: Days, skips_gaps: bool
) -> tuple[Array, Mapping[str, int]]:
    """Return a location's weather, (members, days, names), and the number of interpolated values by name.

    A day that a member lacks comes from the series without a member. Short gaps of variables other than precipitation
    (which comes first) are interpolated, unless the network skips such days.
    """
    missing = np.full(len(days.period), np.nan, np.float32)

    def of(name: str, member: str | None) -> Array:
        one = weather.series.get((name, None), missing)
        of_member = weather.series.get((name, member), missing)
        return np.where(np.isnan(of_member), one, of_member)

    values = np.stack([np.stack([of(name, member) for name in names], axis=-1) for member in ensemble.members])
    history = values[:, : days.history]
    same = (history == history[:1]) | (np.isnan(history) & np.isnan(history[:1]))
    _refuse(~same, "differs between members before time0", names, days)
    filled = {}
    if not skips_gaps:
        for at, name in enumerate(names[1:], start=1):
            if count := max(len(fill_short_gaps(row)) for row in values[..., at]):
                filled[name] = count
        _refuse(np.isnan(values), "is missing", names, days)
    for at, name in enumerate(names):
        of_name, quantity = values[..., at], WEATHER[name]
        impossible = (of_name < quantity.lowest) | (of_name > quantity.highest)
        if impossible.any():
            limits = f"outside {quantity.lowest:g} to {quantity.highest:g}"
            first = of_name.T[impossible.T][0]  # of the first day
            what = f"is not possible in {quantity.unit} ({first:g}, {limits}){unit_hint(name, of_name)}"
            _refuse(impossible[..., None], what, (name,), days)
    return values, filled


def _refuse(where: npt.NDArray[np.bool_], what: str, names: Sequence[str], days: Days) -> None:
    """Raise where any of (members, days, names) is true."""
    if where.any():
        by_day: npt.NDArray[np.bool_] = np.logical_or.reduce(where, axis=0)
        at = int(np.any(by_day, axis=1).argmax())
        which = ", ".join(name for name, bad in zip(names, by_day[at], strict=True) if bad)
        raise InvalidInput(f"{which} {what} on {days.period.days[at]}: correct the forcing.")


def _check(series: ImportedSeries) -> None:
    unit = WEATHER[series.parameter].unit
    if "".join(series.units.split()).lower() not in _UNITS.get(unit, {unit}):
        written = f"in {excerpt(series.units)}" if series.units else "without a unit"
        raise InvalidInput(
            f"{series.file}: {series.parameter} of {series.location} is {written}, not in {unit}: let Delft-FEWS "
            "convert it."
        )
    if series.kind == "instantaneous" and series.parameter not in _ANY_KIND:
        raise InvalidInput(
            f"{series.file}: {series.parameter} of {series.location} is instantaneous: aggregate it to days in "
            "Delft-FEWS."
        )
