"""Converts a weather forecast to a version's product, over the bridges from its model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.weather.bridge import BRIDGED, DailyWeather
from hydrology.weather.forcing import WeatherForecast
from models.arrays import Array
from operations.forecasting.days import RunDays
from operations.weather.fit_bridges import weather_of
from records.weather import bridges
from records.weather.bridges import InForce


@dataclass(frozen=True, slots=True)
class BridgedForecast:
    """A weather forecast that was converted by bridges.

    Attributes:
        traces: their labels.
        first: the first day.
        values: (traces, days) by variable.
        over: the bridges, in the order of their use.
    """

    traces: tuple[str, ...]
    first: Day
    values: Mapping[str, Array]
    over: tuple[InForce, ...]

    @property
    def period(self) -> Period:
        """First and last day."""
        days = next(iter(self.values.values())).shape[1]
        return Period(self.first, self.first + np.timedelta64(days - 1, "D"))


def needed(days: RunDays, in_force: InForce | None) -> Period:
    """Return the days that a weather forecast must hold. More where a bridge shifts precipitation between days."""
    later = np.timedelta64(0 if in_force is None else in_force.part.corrections.days_after, "D")
    return Period(days.ahead.first + later, days.ahead.last + later)


def bridged(
    session: Session,
    forecasts: Mapping[str, WeatherForecast],
    product: str,
    days: Mapping[str, RunDays],
    in_force: Mapping[str, InForce],
    *,
    whole: bool = True,
) -> dict[str, WeatherForecast | BridgedForecast | Absent]:
    """Convert a weather forecast to a product, by basin, or return why it cannot be converted.

    A forecast of a model without a bridge is used as if it were of the live archive; where the product has no bridge
    either, it stays unchanged.

    Args:
        days: the days of each basin to convert.
        in_force: the bridge that produced the product, by basin, if any.
        whole: whether it must hold all these days; else the others are NaN.
    """
    by_live: dict[str, list[str]] = {}
    for name in forecasts:
        live = in_force[name].bridge.from_product if name in in_force else product
        by_live.setdefault(live, []).append(name)
    from_model: dict[str, InForce] = {}
    for live, names in by_live.items():
        from_model |= bridges.for_forecasts(session, forecasts[names[0]].issue.model, live, names)
    return {
        name: _bridged(session, forecast, days[name], from_model.get(name), in_force.get(name), whole=whole)
        for name, forecast in forecasts.items()
    }


def _bridged(
    session: Session,
    forecast: WeatherForecast,
    days: RunDays,
    from_model: InForce | None,
    in_force: InForce | None,
    *,
    whole: bool,
) -> WeatherForecast | BridgedForecast | Absent:
    over = tuple(bridge for bridge in (from_model, in_force) if bridge is not None)
    if not over:
        return forecast
    if missing := [name for name in BRIDGED if name not in forecast.values]:
        return absent(Reason.WEATHER_FORECAST_LACKS_BRIDGED, basin=forecast.basin, variables=", ".join(missing))
    weather = DailyWeather(forecast.first, {name: forecast.values[name].astype(np.float64) for name in BRIDGED})
    if from_model is not None:
        weather = from_model.part.corrections.apply(weather)
    if in_force is not None:
        weather = in_force.part.corrections.apply(_after_the_archive(session, forecast.basin, weather, days, in_force))
    ahead = weather.over(days.ahead)
    held = int(ahead.complete.all(axis=0).sum())
    if whole and held < days.horizon:
        return absent(
            Reason.WEATHER_FORECAST_TOO_SHORT_BRIDGED,
            basin=forecast.basin,
            period=str(forecast.period),
            held=held,
            horizon=days.horizon,
            t0=str(days.t0),
        )
    values = {name: of_days.astype(np.float32) for name, of_days in ahead.values.items()}
    return BridgedForecast(forecast.traces, ahead.first, values, over)


def _after_the_archive(
    session: Session, basin: str, weather: DailyWeather, days: RunDays, in_force: InForce
) -> DailyWeather:
    """Return the weather after the archive days that the state of T0 consumed, with which each trace starts."""
    last = days.t0 + np.timedelta64(in_force.part.corrections.days_after, "D")
    archive = weather_of(session, basin, in_force.bridge.from_product, Period(days.t0, last))
    if archive is None:
        return weather
    whole = Period(days.t0, max(weather.period.last, last))
    known, ahead = archive.over(whole).values, weather.over(whole).values
    return DailyWeather(
        whole.first, {name: np.where(np.isfinite(known[name]), known[name], ahead[name]) for name in BRIDGED}
    )
