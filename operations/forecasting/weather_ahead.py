"""The days of a run, and the weather of a basin after T0: observed, of a forecast, of other years (ESP), or dry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.climatology.normals import other_years
from hydrology.weather.bridge import BRIDGED, DailyWeather
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forcing_kinds import ForcingKind
from models.forcing import Array, Forcing, days_of
from operations.basin_data.dataset import BasinForcing
from operations.states.advance_states import ONE_DAY
from operations.weather.fit_bridges import weather_of
from records.database.stored import grouped
from records.runs.run_weather import FilledWeather
from records.weather import bridges
from records.weather.bridges import InForce
from runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class RunDays:
    """The days of a run: T0, the last that the states consume, and the days after it.

    `filled` of these have ended, without weather that is observed as a whole.
    """

    t0: Day
    horizon: int
    filled: int = 0

    @property
    def ahead(self) -> Period:
        """The days after T0."""
        return Period(self.t0 + ONE_DAY, self.t0 + np.timedelta64(self.horizon, "D"))

    @property
    def last_past(self) -> Day:
        """The last day that has ended."""
        return self.t0 + np.timedelta64(self.filled, "D")

    @property
    def to_come(self) -> "RunDays":
        """The days after those that have ended."""
        return RunDays(self.last_past, self.horizon - self.filled)


def choose_days(clock: Clock, t0: Day | None, horizon: int, last_t0: Day, last_ended: Day) -> RunDays:
    """Return a run's days from the requested or the last possible T0."""
    if t0 is None:
        return RunDays(min(last_ended, last_t0), horizon)
    if t0 > last_ended:
        raise InvalidInput(
            f"T0 {t0} has not ended at {clock.now():%Y-%m-%d %H:%M} UTC, the time of the clock: choose {last_ended} or "
            "an earlier day."
        )
    return RunDays(t0, horizon)


def why_t0_unavailable(basin: str, forcing: BasinForcing, product: str, t0: Day, last_ended: Day) -> Absent | None:
    """Return why T0 is unavailable. Outside the record, or not ended at the basin; None where available."""
    if t0 > last_ended:
        return absent(Reason.T0_NOT_ENDED, basin=basin, t0=str(t0), last=str(last_ended))
    record = forcing.period
    if record.first <= t0 <= record.last:
        return None
    outside = absent(Reason.T0_OUTSIDE_RECORD, basin=basin, t0=str(t0), product=product, record=str(record))
    return with_stop(forcing, outside)


def with_stop(forcing: BasinForcing, reason: Absent) -> Absent:
    """Append to a reason why the record ends where it does."""
    return absent(Reason.RECORD_STOPS, why=reason, stop=forcing.stop) if forcing.stop else reason


@dataclass(frozen=True, slots=True)
class BridgedForecast:
    """A weather forecast converted by bridges, possibly none, in order of use; values (traces, days) by variable."""

    traces: tuple[str, ...]
    first: Day
    values: Mapping[str, Array]
    over: tuple[InForce, ...]

    @property
    def period(self) -> Period:
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
) -> dict[str, BridgedForecast | Absent]:
    """Convert a weather forecast to a product, by basin, or return why it cannot be converted.

    A forecast of a model without a bridge is used as if it were of the live archive; where the product has no bridge
    either, it stays unchanged. `in_force` is the bridge that produced the product. Where the forecast need not hold all
    days (`whole`), the others are NaN.
    """
    by_live = grouped((in_force[name].bridge.from_product if name in in_force else product, name) for name in forecasts)
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
) -> BridgedForecast | Absent:
    over = tuple(bridge for bridge in (from_model, in_force) if bridge is not None)
    if not over:
        return BridgedForecast(forecast.traces, forecast.first, forecast.values, ())
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
    last = days.t0 + np.timedelta64(in_force.part.corrections.days_after, "D")
    archive = weather_of(session, basin, in_force.bridge.from_product, Period(days.t0, last))
    if archive is None:
        return weather
    whole = Period(days.t0, max(weather.period.last, last))
    known, ahead = archive.over(whole).values, weather.over(whole).values
    return DailyWeather(
        whole.first, {name: np.where(np.isfinite(known[name]), known[name], ahead[name]) for name in BRIDGED}
    )


@dataclass(frozen=True, slots=True)
class WeatherAhead:
    """The weather of one basin after T0: (traces, days, ...), one row where `traces` is None (observed or dry).

    `filled` has the days whose weather was not observed in time or not forecast; `of_record`: it is the recorded
    weather.
    """

    traces: tuple[str, ...] | None
    forcing: Forcing
    of_record: bool = False
    filled: tuple[FilledWeather, ...] = ()

    def only(self, traces: Sequence[str] | None) -> "WeatherAhead":
        """Return it with some of its traces; whole where it lacks one of them, or there is a single weather."""
        if traces is None or self.traces is None or not {*traces} <= {*self.traces}:
            return self
        at = np.array([self.traces.index(trace) for trace in traces])
        return replace(self, traces=tuple(traces), forcing=self.forcing.basins(at))


def observed(basin: str, forcing: BasinForcing, days: RunDays, _ended: Day) -> WeatherAhead | Absent:
    """Return the observed weather after T0, or why a day of it is unknown."""
    ahead, record = days.ahead, forcing.period
    of_days = _parameters(basin, days)
    if ahead.last > record.last:
        reason = absent(Reason.WEATHER_TOO_SHORT, **of_days, needed=str(ahead.last), last=str(record.last))
    elif (gap := forcing.first_gap(ahead)) is not None:
        reason = absent(Reason.WEATHER_GAP, **of_days, day=str(gap))
    else:
        return WeatherAhead(None, forcing.forcing.over(ahead), of_record=True)
    return with_stop(forcing, reason)


def climatology(basin: str, forcing: BasinForcing, days: RunDays, ended: Day) -> WeatherAhead | Absent:
    """Return the weather of the same days in every other complete year, or why there is none.

    Days of the record after `ended`, the last that has ended, are not known yet.
    """
    whole, record = forcing.forcing, Period(forcing.period.first, min(forcing.period.last, ended))
    years = other_years(days.ahead, record)
    places = {year: (of_year - whole.first).astype(int) for year, of_year in years.items()}
    complete = {year: place for year, place in places.items() if not whole.missing[0, place].any()}
    if not complete:
        return absent(Reason.NO_OTHER_YEAR, basin=basin, record=str(forcing.period), days=str(days.ahead))
    chosen = np.stack(list(complete.values()))
    return with_traces(tuple(complete), whole, days.ahead.first, whole.mass[0, chosen], whole.auxiliary[0, chosen])


def dry(basin: str, forcing: BasinForcing, days: RunDays, ended: Day) -> WeatherAhead | Absent:
    """Return days without precipitation, all else at the mean of `climatology`; or why not."""
    of_years = climatology(basin, forcing, days, ended)
    if isinstance(of_years, Absent):
        return of_years
    usual = of_years.forcing.auxiliary.mean(axis=0, keepdims=True, dtype=np.float64).astype(np.float32)
    whole = forcing.forcing
    nothing = np.zeros((1, days.horizon), np.float32)
    return WeatherAhead(None, Forcing(days.ahead.first, nothing, usual, whole.static, whole.ids))


READERS: Mapping[ForcingKind, Callable[[str, BasinForcing, RunDays, Day], WeatherAhead | Absent]] = {
    "observed": observed,
    "climatology": climatology,
    "dry": dry,
}
"""By kind, the function that reads the weather after T0 from a basin's record; kinds of weather forecasts have none."""


def supplied(
    basin: str,
    forcing: BasinForcing,
    days: RunDays,
    names: Sequence[str],
    forecast: BridgedForecast | None,
) -> WeatherAhead | Absent:
    """Return the weather of a weather forecast, its variables by name, or why it does not cover the days ahead."""
    if forecast is None:
        return absent(Reason.NO_WEATHER_FORECAST, basin=basin, days=str(days.ahead))
    if missing := [name for name in names if name not in forecast.values]:
        return absent(Reason.WEATHER_FORECAST_LACKS, basin=basin, variables=", ".join(missing))
    if forecast.period.overlap(days.ahead) != days.ahead:
        held, needed = str(forecast.period), str(days.ahead)
        return absent(Reason.WEATHER_FORECAST_TOO_SHORT, **_parameters(basin, days), period=held, days=needed)
    of_days = days_of(forecast.period, days.ahead)
    mass, *others = (forecast.values[name][:, of_days] for name in names)
    auxiliary = np.stack(others, axis=-1) if others else np.empty((*mass.shape, 0), np.float32)
    return with_traces(forecast.traces, forcing.forcing, days.ahead.first, mass, auxiliary)


def _parameters(basin: str, days: RunDays) -> dict[str, str | int]:
    return {"basin": basin, "horizon": days.horizon, "t0": str(days.t0)}


def with_traces(
    labels: tuple[str, ...] | None, record: Forcing, first: Day, mass: Array, auxiliary: Array
) -> WeatherAhead:
    """Return weather from a first day on, (traces, days, ...), in the basin of a record."""
    static = np.repeat(record.static, len(mass), axis=0)
    return WeatherAhead(labels, Forcing(first, mass, auxiliary, static, record.ids * len(mass)))
