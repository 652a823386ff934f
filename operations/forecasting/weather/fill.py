"""Fills days ahead whose weather was not observed in time or not forecast, and labels what it was filled with.

Only observed weather enters a stored state: T0 is the last day that is observed as a whole, and a past day after it is
one of the days ahead. Each variable of a day is taken from the first source that has it: the version's own product;
another product through its bridge; the weather forecast of the run; earlier issues of its model, the newest first; and,
where allowed, other years.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Day
from hydrology.base.reasons import Reason
from hydrology.weather.forcing import WeatherForecast
from operations.forecasting.days import RunDays, with_stop
from operations.forecasting.weather import sources
from operations.forecasting.weather.mosaic import Filled, Labels, Mosaic
from operations.forecasting.weather.sources import Supply
from operations.forecasting.weather_ahead import climatology
from operations.forecasting.weather_skill import Compared
from records.runs.run_types import NewRun
from records.runs.run_weather import FilledWeather, RunWeather
from records.weather import weather_issues


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
    main = sources.of_forecast(session, of, used, used.id, forecasts)
    done = {name: Filled(one, of.days) for name, one in main.items() if isinstance(one, Absent)}
    for name in of.forcings.keys() - forecasts.keys():
        done[name] = Filled(absent(Reason.NO_WEATHER_FORECAST, basin=name, days=str(of.days.to_come.ahead)), of.days)
    whole = {name: one for name, one in main.items() if isinstance(one, Supply)}
    mosaics = {name: Mosaic.on(of, name, one, filling.labels(name)) for name, one in whole.items()}
    _add_observed(session, of, mosaics, filling)
    for name, one in whole.items():
        mosaics[name].add(one)
    for issue in sources.earlier_issues(session, of, used, filling.ids("forecast")):
        if not (lacking := [name for name, mosaic in mosaics.items() if mosaic.lacks_past]):
            break
        earlier = weather_issues.read_many(session, issue, lacking, of.at)
        for name, supply in sources.of_forecast(session, of, used, issue, earlier).items():
            if isinstance(supply, Supply):
                mosaics[name].add(supply)
    for name, mosaic in mosaics.items():
        if filling.allows_other_years(name) and mosaic.unknown.any():
            other = sources.of_other_years(of, name, ended[name])
            if isinstance(other, Supply):
                mosaic.add(other)
        done[name] = mosaic.result()
    return done


def with_other_years(session: Session, of: Compared, filling: Filling, ended: Mapping[str, Day]) -> dict[str, Filled]:
    """Return the weather of other years after T0 with what was observed on the past days, by basin.

    Where that does not fill the past days, and other years may not either, the days ahead begin at T0 as usual, unless
    that is too old.
    """
    supplies = {name: sources.of_other_years(of, name, ended[name]) for name in of.forcings}
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
    for name, one in sources.of_product(of).items():
        if name in mosaics:
            mosaics[name].add(one)
    if any(mosaic.lacks_past for mosaic in mosaics.values()):
        for name, one in sources.of_bridges(session, of, filling.ids("bridge")):
            if name in mosaics:
                mosaics[name].add(one)
