"""The sources of weather that is missing in a version's product, each with the skill expected of it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, day, days_between
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forecast_errors import assumed
from models.arrays import Array
from operations.forecasting.weather_ahead import BridgedForecast, bridged, climatology
from operations.forecasting.weather_skill import Compared, weather_of
from operations.weather import fit_bridges
from records.runs.run_weather import Origin, RunWeather
from records.weather import bridges, weather_issues
from records.weather.bridges import InForce

OTHER_YEARS = Origin(source="climatology")
_MARGIN = np.timedelta64(2, "D")
"""Days before the missing ones that a bridge may take precipitation from."""


@dataclass(frozen=True, slots=True)
class Supply:
    """The weather of a basin's days ahead from one source; (traces, days, variables), NaN where unknown.

    Its correlation is with the weather that comes, (days, variables); a weather forecast passed through bridges.
    """

    origin: Origin
    labels: tuple[str, ...] | None
    values: Array
    correlation: npt.NDArray[np.float64]
    over: tuple[InForce, ...] = ()


def of_product(of: Compared) -> dict[str, Supply]:
    """Return what is observed in the version's product on the past days, by basin."""
    origin, supplies = Origin(source="product", name=of.product), {}
    for name, forcing in of.forcings.items():
        values = _past_only(of, forcing.values_over(of.days.ahead)[np.newaxis])
        supplies[name] = Supply(origin, None, values, np.ones(values.shape[1:]))
    return supplies


def of_bridges(session: Session, of: Compared, only: Collection[str] | None) -> Iterator[tuple[str, Supply]]:
    """Yield what is observed in other products on the past days, through their bridges, with the basin.

    Only bridges with these ids; None: the newest of each name, those with the most skilful precipitation first.
    """
    ahead, variables = of.days.ahead, of.variables
    targets = {of.product, *(one.bridge.to_product for one in of.in_force.values())}
    for found in bridges.to_products(session, targets, [*of.forcings], only):
        name, own = found.part.basin_id, of.in_force.get(found.part.basin_id)
        names = {of.product} if own is None else {of.product, own.bridge.to_product}
        if found.bridge.to_product not in names or found.bridge.name == of.product:
            continue
        known = Period(ahead.first - _MARGIN, of.days.last_past)
        weather = fit_bridges.weather_of(session, name, found.bridge.from_product, known)
        if weather is not None:
            over = found.part.corrections.apply(weather).over(ahead).values
            values = _past_only(of, _stacked(over, variables, (1, len(ahead))))
            skill = np.array([_skill(found, variable) for variable in variables])
            origin = Origin(source="bridge", id=found.bridge.id, name=found.bridge.from_product)
            yield name, Supply(origin, None, values, np.tile(skill, (len(ahead), 1)))


def of_forecast(
    session: Session, of: Compared, used: RunWeather, issue: str, forecasts: Mapping[str, WeatherForecast]
) -> dict[str, Supply | Absent]:
    """Return the weather of an issue of a model, by basin, or why it cannot be converted to the product.

    The skill of the model of the run's own issue (`used`) counts for the others, too.
    """
    days = dict.fromkeys(forecasts, of.days)
    shown = bridged(session, forecasts, of.product, days, of.in_force, whole=False)
    variables, supplies = of.variables, dict[str, Supply | Absent]()
    for name, one in shown.items():
        if isinstance(one, Absent):
            supplies[name] = one
            continue
        reference = day(forecasts[name].issue.reference_time.date())
        places = np.arange(of.days.horizon) + days_between(one.first, of.days.ahead.first)
        inside = (places >= 0) & (places < len(one.period))
        of_days = {
            variable: np.where(inside, values[:, np.where(inside, places, 0)], np.nan)
            for variable, values in one.values.items()
        }
        values = _stacked(of_days, variables, (len(one.traces), of.days.horizon))
        leads = np.arange(of.days.horizon) + days_between(reference, of.days.ahead.first)
        by_lead = np.array([used.skill.correlations[variable] for variable in variables]).T
        origin = Origin(source="forecast", id=issue, name=used.model, reference_day=str(reference))
        over = one.over if isinstance(one, BridgedForecast) else ()
        supplies[name] = Supply(origin, one.traces, values, by_lead[np.clip(leads, 0, len(by_lead) - 1)], over)
    return supplies


def earlier_issues(session: Session, of: Compared, used: RunWeather, only: Collection[str] | None) -> Iterator[str]:
    """Yield a model's earlier issues that hold days ahead, newest first; `only` these, None for all."""
    names, ahead = [*of.forcings], of.days.ahead
    found = weather_issues.since(session, used.source, used.model, names, days=ahead, before=used.reference_time)
    yield from (issue for issue, _ in reversed(found) if only is None or issue in only)


def of_other_years(of: Compared, name: str, ended: Day) -> Supply | Absent:
    found = climatology(name, of.forcings[name], of.days, ended)
    if isinstance(found, Absent):
        return found
    values = weather_of(found.forcing).astype(np.float32)
    return Supply(OTHER_YEARS, found.traces, values, np.zeros(values.shape[1:]))


def _past_only(of: Compared, values: Array) -> Array:
    """Return values (traces, days, variables), unknown on the days that have not ended."""
    past = np.arange(of.days.horizon) < of.days.filled
    return np.where(past[:, np.newaxis], values, np.float32(np.nan))


def _stacked(
    by_variable: Mapping[str, npt.NDArray[np.floating]], variables: tuple[str, ...], shape: tuple[int, int]
) -> Array:
    """Return values (traces, days, variables), NaN for variables that a source lacks."""
    unknown = np.full(shape, np.nan)
    of_each = [np.broadcast_to(by_variable.get(name, unknown), shape) for name in variables]
    return np.stack(of_each, axis=-1).astype(np.float32)


def _skill(found: InForce, variable: str) -> float:
    """Return the correlation of a bridge's daily values; a pooled one counts as a forecast's first day."""
    skill = None if found.part.skill is None else found.part.skill.variables.get(variable)
    known = None if skill is None else skill.bridged.correlation
    return float(assumed(variable, 1)[0]) if known is None else min(max(known, 0.0), 1.0)
