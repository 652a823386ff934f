"""The weather of a run's basins after T0, by its kind, and what fills days not observed in time or not forecast.

Only observed weather enters a stored state: T0 is the last day that is observed as a whole, and a past day after it is
one of the days ahead. Each variable of a day is taken from the first source that has it: the version's own product;
another product through its bridge; the weather forecast of the run; earlier issues of its model, the newest first; and,
where allowed, other years.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Day, Period
from hydrology.base.reasons import Reason
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forcing_kinds import KINDS
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import BasinForcing
from operations.forecasting import weather_sources
from operations.forecasting.weather_ahead import (
    READERS,
    BridgedForecast,
    RunDays,
    WeatherAhead,
    bridged,
    climatology,
    needed,
    supplied,
    with_stop,
)
from operations.forecasting.weather_skill import Compared
from operations.forecasting.weather_sources import MIN_SHARE, Filled, Labels, Mosaic, Supply
from operations.versions.load_networks import LoadedVersion
from records.database.work import Work
from records.runs.run_types import NewRun
from records.runs.run_weather import FilledWeather, RunWeather, name_of_weather
from records.versions import error_models
from records.weather import weather_issues
from records.weather import weather_issues as weather
from records.weather.bridges import InForce


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """How missing weather is filled.

    Attributes:
        days: number of past days after T0.
        t0_is_stale: whether T0 is too old for a forecast from it alone.
        as_stored: the labels of a stored run, by basin, to fill exactly as it did; None for a new run.
        parts: how a stored run filled the parts of a combined version, by their names.
    """

    days: int
    climatology: bool
    t0_is_stale: bool = False
    as_stored: Mapping[str, Labels] | None = None
    parts: Mapping[str, "Filling"] = field(default_factory=dict)

    def of_part(self, name: str) -> "Filling":
        return self.parts.get(name, self)

    def labels(self, basin: str) -> Labels | None:
        """Return the labels to follow in a basin; None for a new run."""
        return None if self.as_stored is None else self.as_stored.get(basin, ())

    @property
    def labelled(self) -> bool:
        return any((self.as_stored or {}).values())

    def ids(self, source: str) -> set[str] | None:
        """Return the ids of a kind of source that a stored run used; None for a new run."""
        if self.as_stored is None:
            return None
        return {one.id for labels in self.as_stored.values() for one in labels if one.source == source and one.id}

    def allows_other_years(self, basin: str) -> bool:
        if self.as_stored is None:
            return self.climatology
        return any(one.source == "climatology" for one in self.as_stored.get(basin, ()))


def as_stored(run: NewRun, filled: Mapping[str, Sequence[FilledWeather]]) -> Filling:
    """Return how a run was filled, by basin, to repeat it."""
    labels = {name: tuple(of_name) for name, of_name in filled.items()}
    return Filling(days=run.filled_days, climatology=True, as_stored=labels)


def with_forecast(
    session: Session,
    of: Compared,
    used: RunWeather,
    forecasts: Mapping[str, WeatherForecast],
    filling: Filling,
    ended: Mapping[str, Day],
) -> dict[str, Filled]:
    """Return a weather forecast after T0, filled, by basin; until weather is missing for good."""
    main = weather_sources.of_forecast(session, of, used, used.id, forecasts)
    done = {name: Filled(one, of.days) for name, one in main.items() if isinstance(one, Absent)}
    for name in of.forcings.keys() - forecasts.keys():
        done[name] = Filled(absent(Reason.NO_WEATHER_FORECAST, basin=name, days=str(of.days.to_come.ahead)), of.days)
    whole = {name: one for name, one in main.items() if isinstance(one, Supply)}
    mosaics = {name: Mosaic.on(of, name, one, filling.labels(name)) for name, one in whole.items()}
    _add_observed(session, of, mosaics, filling)
    for name, one in whole.items():
        mosaics[name].add(one)
    for issue in weather_sources.earlier_issues(session, of, used, filling.ids("forecast")):
        if not (lacking := [name for name, mosaic in mosaics.items() if mosaic.lacks_past]):
            break
        earlier = weather_issues.read_many(session, issue, lacking, of.at)
        for name, supply in weather_sources.of_forecast(session, of, used, issue, earlier).items():
            if isinstance(supply, Supply):
                mosaics[name].add(supply)
    for name, mosaic in mosaics.items():
        if filling.allows_other_years(name) and mosaic.unknown.any():
            other = weather_sources.of_other_years(of, name, ended[name])
            if isinstance(other, Supply):
                mosaic.add(other)
        done[name] = mosaic.result()
    return done


def with_other_years(session: Session, of: Compared, filling: Filling, ended: Mapping[str, Day]) -> dict[str, Filled]:
    """Return the weather of other years after T0 with what was observed on the past days, by basin.

    Where that does not fill the past days, and other years may not either, the days ahead begin at T0 as usual, unless
    that is too old.
    """
    supplies = {name: weather_sources.of_other_years(of, name, ended[name]) for name in of.forcings}
    done = {name: Filled(one, of.days) for name, one in supplies.items() if isinstance(one, Absent)}
    whole = {name: one for name, one in supplies.items() if isinstance(one, Supply)}
    mosaics = {name: Mosaic.on(of, name, one, filling.labels(name)) for name, one in whole.items()}
    _add_observed(session, of, mosaics, filling)
    from_t0 = RunDays(of.days.t0, of.days.to_come.horizon)
    for name, mosaic in mosaics.items():
        forcing = of.forcings[name]
        if filling.allows_other_years(name) or not mosaic.lacks_past:
            mosaic.add(mosaic.main)
            done[name] = mosaic.result()
        elif filling.t0_is_stale:
            last, days = str(of.days.t0), STALE_AFTER_DAYS
            stale = absent(Reason.RECORD_STALE, basin=name, product=of.product, last=last, days=days)
            done[name] = Filled(with_stop(forcing, stale), of.days)
        else:
            done[name] = Filled(climatology(name, forcing, from_t0, ended[name]), from_t0)
    return done


def _add_observed(session: Session, of: Compared, mosaics: Mapping[str, Mosaic], filling: Filling) -> None:
    for name, one in weather_sources.of_product(of).items():
        if name in mosaics:
            mosaics[name].add(one)
    if any(mosaic.lacks_past for mosaic in mosaics.values()):
        for name, one in weather_sources.of_bridges(session, of, filling.ids("bridge")):
            if name in mosaics:
                mosaics[name].add(one)


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
