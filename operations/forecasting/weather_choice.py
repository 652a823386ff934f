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
from types import MappingProxyType

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Day
from hydrology.base.reasons import Reason
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forcing_kinds import KINDS
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting import weather_sources
from operations.forecasting.weather_ahead import (
    READERS,
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
from records.database.stored import grouped
from records.database.work import Work
from records.runs.run_types import NewRun
from records.runs.run_weather import FilledWeather, RunWeather, WeatherSkill, name_of_weather
from records.versions import error_models
from records.weather import weather_issues
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


@dataclass(frozen=True, slots=True)
class WeatherPlan:
    """The weather of basins after T0, or why they have none, with the bridges that it passed through, in order of use.

    Its days go up to the last one that is known.
    """

    outcomes: Mapping[str, WeatherAhead | Absent]
    days: RunDays
    forecast: RunWeather | None
    bridges: Mapping[str, Sequence[InForce]]

    @property
    def weather(self) -> dict[str, WeatherAhead]:
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, WeatherAhead)}


Key = tuple[RunDays, str | None]
"""The days of a plan, and its weather forecast."""
Skills = Mapping[Key, WeatherSkill]
NO_SKILLS: Skills = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherChoice(Compared):
    """The choice of the weather after T0; `filling` is None where missing weather is not filled.

    A forecast that is not named must have been available `at` its instant. `ended`: the last day that has ended, by
    basin. `by`: as in `PartInputs`. `repeated`: the weather forecast as a run that is repeated states it. `skills`:
    those of the version's parts before, which a plan takes over where it fills nothing and they have its variables.
    """

    version: str
    params: ForecastParams
    filling: Filling | None
    ended: Mapping[str, Day]
    by: datetime | None
    repeated: RunWeather | None = None
    skills: Skills

    def choices(self, work: Work) -> list[WeatherPlan]:
        """Return the basins' weather after T0, by its kind."""
        kind, now = self.params.weather, replace(self, at=work.clock.now())
        with work.database.reading() as session:
            if KINDS[kind].of_forecast:
                return [*(self if self.params.weather_id is None else now)._supplied(session)]
            if self.filling is not None and self.days.filled and kind == "climatology":
                return [*self._by_days(now._with_other_years(session, self.filling), None)]
        read = READERS[kind]
        outcomes = {name: read(name, forcing, self.days, self.ended[name]) for name, forcing in self.forcings.items()}
        return [self._plan(outcomes, self.days, None, {})]

    def _plan(
        self,
        outcomes: Mapping[str, WeatherAhead | Absent],
        days: RunDays,
        used: RunWeather | None,
        over: Mapping[str, Sequence[InForce]],
    ) -> WeatherPlan:
        applied = {name: (self.in_force[name],) for name in outcomes if name in self.in_force}
        return WeatherPlan(
            outcomes, days, used, {name: over.get(name, ()) or applied.get(name, ()) for name in outcomes}
        )

    def _by_days(self, filled: Mapping[str, Filled], used: RunWeather | None) -> Iterator[WeatherPlan]:
        by_days: dict[RunDays, dict[str, Filled]] = {}
        for name, one in filled.items():
            by_days.setdefault(one.days, {})[name] = one
        for days, of_days in by_days.items():
            over = {name: one.over for name, one in of_days.items()}
            yield self._plan({name: one.outcome for name, one in of_days.items()}, days, used, over)

    def _supplied(self, session: Session) -> Iterator[WeatherPlan]:
        by_basin, short = self._named_or_newest(session)
        for issue in dict.fromkeys(by_basin.values()):
            names = [name for name in self.forcings if by_basin.get(name) == issue]
            forecasts = weather_issues.read_many(session, issue, names, self.at)
            some = replace(self, forcings={name: self.forcings[name] for name in names})
            filling = self.filling
            if filling is not None and not (self.days.filled or issue in short or filling.labelled):
                filling = None
            used = self.repeated if filling is None else None
            if used is None:
                skill = self.skills.get((self.days, issue)) if filling is None else None
                used = some._identity(session, weather_issues.get(session, issue), forecasts, skill)
            if used is None or filling is None:
                yield self._whole(session, names, forecasts, used)
            else:
                yield from self._by_days(some._with_forecast(session, used, forecasts, filling), used)
        without = [name for name in self.forcings if name not in by_basin]
        yield self._whole(session, without, {}, None)

    def _whole(
        self, session: Session, names: Sequence[str], forecasts: Mapping[str, WeatherForecast], used: RunWeather | None
    ) -> WeatherPlan:
        shown = bridged(session, forecasts, self.product, dict.fromkeys(forecasts, self.days), self.in_force)
        outcomes = {
            name: of_name
            if isinstance(of_name := shown.get(name), Absent)
            else supplied(name, self.forcings[name], self.days, self.variables, of_name)
            for name in names
        }
        over = {name: one.over for name, one in shown.items() if not isinstance(one, Absent)}
        return self._plan(outcomes, self.days, used, over)

    def _named_or_newest(self, session: Session) -> tuple[dict[str, str], set[str]]:
        """Return each basin's requested or newest known weather forecast, and which of them are too short.

        One that is too short holds only the first of the days to come. A forecast is extended by the past days as far
        as its weather forecast allows.
        """
        if self.params.weather_id is not None:
            return dict.fromkeys(self.forcings, self.params.weather_id), set()
        to_come = self.days.to_come
        required = max(to_come.horizon - self.days.filled, ceil(MIN_SHARE * to_come.horizon))
        newest = self._newest_over(session, [*self.forcings], replace(to_come, horizon=required), whole=True)
        if self.filling is None:
            return newest, set()
        others = [name for name in self.forcings if name not in newest]
        short = self._newest_over(session, others, to_come, whole=False)
        return newest | short, {*short.values()}

    def _newest_over(self, session: Session, names: Sequence[str], days: RunDays, *, whole: bool) -> dict[str, str]:
        by_days = grouped((needed(days, self.in_force.get(name)), name) for name in names)
        newest: dict[str, str] = {}
        for period, of_period in by_days.items():
            newest |= weather_issues.newest(session, of_period, self.at, period, whole=whole)
        return newest

    def _identity(
        self,
        session: Session,
        issue: weather_issues.Issue,
        forecasts: Mapping[str, WeatherForecast],
        skill: WeatherSkill | None,
    ) -> RunWeather | None:
        """Return a weather forecast as a run stores it; None where it covers none of the run's basins."""
        if not forecasts:
            return None
        if skill is None or not {*self.variables} <= skill.correlations.keys():
            skill = self.skill(session, issue)
        name = name_of_weather(issue.source, issue.model)
        return RunWeather(
            id=issue.id,
            source=issue.source,
            model=issue.model,
            reference_time=issue.reference_time,
            available_time=max(forecast.issue.available_time for forecast in forecasts.values()),
            licence=issue.licence,
            credit=issue.credit,
            skill=skill,
            recalibration=error_models.recalibration_of(session, self.version, name),
        )

    def _with_forecast(
        self, session: Session, used: RunWeather, forecasts: Mapping[str, WeatherForecast], filling: Filling
    ) -> dict[str, Filled]:
        """Return a weather forecast after T0, filled, by basin; until weather is missing for good."""
        main = weather_sources.of_forecast(session, self, used, used.id, forecasts)
        to_come = str(self.days.to_come.ahead)
        for name in self.forcings.keys() - forecasts.keys():
            main[name] = absent(Reason.NO_WEATHER_FORECAST, basin=name, days=to_come)
        mosaics, done = self._mosaics(session, main, filling)
        for mosaic in mosaics.values():
            mosaic.add(mosaic.main)
        names, ahead, only = [*self.forcings], self.days.ahead, filling.ids("forecast")
        found = weather_issues.since(session, used.source, used.model, names, days=ahead, before=used.reference_time)
        for issue in (issue for issue, _ in reversed(found) if only is None or issue in only):
            if not (lacking := [name for name, mosaic in mosaics.items() if mosaic.lacks_past]):
                break
            earlier = weather_issues.read_many(session, issue, lacking, self.at)
            for name, supply in weather_sources.of_forecast(session, self, used, issue, earlier).items():
                if isinstance(supply, Supply):
                    mosaics[name].add(supply)
        for name, mosaic in mosaics.items():
            if filling.allows_other_years(name) and mosaic.unknown.any():
                other = weather_sources.of_other_years(self, name, self.ended[name])
                if isinstance(other, Supply):
                    mosaic.add(other)
            done[name] = mosaic.result()
        return done

    def _with_other_years(self, session: Session, filling: Filling) -> dict[str, Filled]:
        """Return the weather of other years after T0 with what was observed on the past days, by basin.

        Where that does not fill the past days, and other years may not either, the days ahead begin at T0 as usual,
        unless that is too old.
        """
        main = {name: weather_sources.of_other_years(self, name, self.ended[name]) for name in self.forcings}
        mosaics, done = self._mosaics(session, main, filling)
        from_t0 = RunDays(self.days.t0, self.days.to_come.horizon)
        for name, mosaic in mosaics.items():
            forcing = self.forcings[name]
            if filling.allows_other_years(name) or not mosaic.lacks_past:
                mosaic.add(mosaic.main)
                done[name] = mosaic.result()
            elif filling.t0_is_stale:
                last, days = str(self.days.t0), STALE_AFTER_DAYS
                stale = absent(Reason.RECORD_STALE, basin=name, product=self.product, last=last, days=days)
                done[name] = Filled(with_stop(forcing, stale), self.days)
            else:
                done[name] = Filled(climatology(name, forcing, from_t0, self.ended[name]), from_t0)
        return done

    def _mosaics(
        self, session: Session, main: Mapping[str, Supply | Absent], filling: Filling
    ) -> tuple[dict[str, Mosaic], dict[str, Filled]]:
        """Return mosaics of what was observed on the past days, and why other basins have no main source."""
        done = {name: Filled(one, self.days) for name, one in main.items() if isinstance(one, Absent)}
        mosaics = {
            name: Mosaic(self, name, one, filling.labels(name)) for name, one in main.items() if isinstance(one, Supply)
        }
        for name, one in weather_sources.of_product(self).items():
            if name in mosaics:
                mosaics[name].add(one)
        if any(mosaic.lacks_past for mosaic in mosaics.values()):
            for name, one in weather_sources.of_bridges(session, self, filling.ids("bridge"), self.by):
                if name in mosaics:
                    mosaics[name].add(one)
        return mosaics, done
