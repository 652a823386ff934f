"""The weather of a run's basins after T0, by its kind: from their records, or from weather forecasts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forcing_kinds import KINDS
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays
from operations.forecasting.weather.fill import Filling, with_forecast, with_other_years
from operations.forecasting.weather.mosaic import MIN_SHARE, Filled
from operations.forecasting.weather_ahead import READERS, BridgedForecast, WeatherAhead, bridged, needed, supplied
from operations.forecasting.weather_skill import Compared
from operations.versions.load_networks import LoadedVersion
from records.database.work import Work
from records.runs.run_weather import RunWeather, name_of_weather
from records.versions import error_models
from records.weather import weather_issues as weather
from records.weather.bridges import InForce


@dataclass(frozen=True, slots=True)
class WeatherPlan:
    """The weather of basins after T0, or why they have none.

    Its days go up to the last one that is known. Bridges are listed where there are more than the one that produced the
    product.
    """

    outcomes: Mapping[str, WeatherAhead | Absent]
    days: RunDays
    forecast: RunWeather | None = None
    bridges: Mapping[str, Sequence[InForce]] = field(default_factory=dict)

    @property
    def weather(self) -> dict[str, WeatherAhead]:
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, WeatherAhead)}

    @property
    def failures(self) -> dict[str, Absent]:
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Absent)}


@dataclass(frozen=True, slots=True)
class WeatherChoice:
    """The choice of the weather after T0; `filling` is None where missing weather is not filled."""

    loaded: LoadedVersion
    in_force: Mapping[str, InForce]
    params: ForecastParams
    days: RunDays
    started: Mapping[str, BasinForcing]
    filling: Filling | None
    ended: Mapping[str, Day]

    def choices(self, work: Work, known: datetime) -> list[WeatherPlan]:
        """Return the basins' weather after T0, by its kind.

        A forecast that is not named must have been available at the instant `known`.
        """
        kind = self.params.weather
        with work.database.reading() as session:
            if KINDS[kind].of_forecast:
                return [*self._supplied(session, known if self.params.weather_id is None else work.clock.now())]
            if self.filling is not None and self.days.filled and kind == "climatology":
                compared = self._compared([*self.started], work.clock.now())
                return [*_by_days(with_other_years(session, compared, self.filling, self.ended), None)]
        read = READERS[kind]
        outcomes = {name: read(name, forcing, self.days, self.ended[name]) for name, forcing in self.started.items()}
        return [WeatherPlan(outcomes, self.days)]

    def _supplied(self, session: Session, at: datetime) -> Iterator[WeatherPlan]:
        by_basin, short = self._named_or_newest(session, at)
        for issue in dict.fromkeys(by_basin.values()):
            names = [name for name in self.started if by_basin.get(name) == issue]
            forecasts = weather.read_many(session, issue, names, at)
            compared = self._compared(names, at)
            used = self._identity(session, weather.get(session, issue), forecasts, compared)
            filling = self.filling
            if used is None or filling is None or not (self.days.filled or issue in short or filling.labelled):
                yield self._whole(session, names, forecasts, used)
            else:
                yield from _by_days(with_forecast(session, compared, used, forecasts, filling, self.ended), used)
        without = [name for name in self.started if name not in by_basin]
        yield self._whole(session, without, {}, None)

    def _whole(
        self, session: Session, names: Sequence[str], forecasts: Mapping[str, WeatherForecast], used: RunWeather | None
    ) -> WeatherPlan:
        taken, product = self.loaded.config.inputs, self.loaded.version.product
        shown = bridged(session, forecasts, product, dict.fromkeys(forecasts, self.days), self.in_force)
        outcomes = {
            name: of_name
            if isinstance(of_name := shown.get(name), Absent)
            else supplied(name, self.started[name], self.days, taken, of_name)
            for name in names
        }
        over = {name: one.over for name, one in shown.items() if isinstance(one, BridgedForecast)}
        return WeatherPlan(outcomes, self.days, used, over)

    def _named_or_newest(self, session: Session, at: datetime) -> tuple[dict[str, str], set[str]]:
        """Return each basin's requested or newest known weather forecast, and which of them are too short.

        One that is too short holds only the first of the days to come. A forecast is extended by the past days as far
        as its weather forecast allows.
        """
        if self.params.weather_id is not None:
            return dict.fromkeys(self.started, self.params.weather_id), set()
        to_come = self.days.to_come
        required = max(to_come.horizon - self.days.filled, ceil(MIN_SHARE * to_come.horizon))
        newest = self._newest_over(session, [*self.started], at, replace(to_come, horizon=required), whole=True)
        if self.filling is None:
            return newest, set()
        others = [name for name in self.started if name not in newest]
        short = self._newest_over(session, others, at, to_come, whole=False)
        return newest | short, {*short.values()}

    def _newest_over(
        self, session: Session, names: Sequence[str], at: datetime, days: RunDays, *, whole: bool
    ) -> dict[str, str]:
        by_days: dict[Period, list[str]] = {}
        for name in names:
            by_days.setdefault(needed(days, self.in_force.get(name)), []).append(name)
        newest: dict[str, str] = {}
        for period, of_period in by_days.items():
            newest |= weather.newest(session, of_period, at, period, whole=whole)
        return newest

    def _identity(
        self, session: Session, issue: weather.Issue, forecasts: Mapping[str, WeatherForecast], compared: Compared
    ) -> RunWeather | None:
        """Return a weather forecast as a run stores it; None where it covers none of the run's basins."""
        if not forecasts:
            return None
        name = name_of_weather(issue.source, issue.model)
        return RunWeather(
            id=issue.id,
            source=issue.source,
            model=issue.model,
            reference_time=issue.reference_time,
            available_time=max(forecast.issue.available_time for forecast in forecasts.values()),
            licence=issue.licence,
            credit=issue.credit,
            skill=compared.skill(session, issue),
            recalibration=error_models.recalibration_of(session, self.loaded.version.id, name),
        )

    def _compared(self, names: Sequence[str], at: datetime) -> Compared:
        return Compared(
            product=self.loaded.version.product,
            inputs=self.loaded.config.inputs,
            forcings={name: self.started[name] for name in names},
            in_force=self.in_force,
            days=self.days,
            at=at,
        )


def _by_days(filled: Mapping[str, Filled], used: RunWeather | None) -> Iterator[WeatherPlan]:
    by_days: dict[RunDays, dict[str, Filled]] = {}
    for name, one in filled.items():
        by_days.setdefault(one.days, {})[name] = one
    for days, of_days in by_days.items():
        over = {name: one.over for name, one in of_days.items() if one.over}
        yield WeatherPlan({name: one.outcome for name, one in of_days.items()}, days, used, over)
