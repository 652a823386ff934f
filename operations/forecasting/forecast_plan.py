"""Inputs of a forecast run, and the runs that can be computed. Basins, days and weather."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, as_date
from hydrology.base.credit import Credit
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.weather.forcing import WeatherForecast
from hydrology.weather.forcing_kinds import KINDS
from jobspec.changes import UNCHANGED, Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.basin_data.dataset import BasinForcing, load_forcings
from operations.forecasting.bridged_weather import BridgedForecast, bridged, needed
from operations.forecasting.days import RunDays, choose_days, why_t0_unavailable
from operations.forecasting.weather_ahead import READERS, WeatherAhead, supplied
from operations.forecasting.weather_skill import Compared
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.stages import stage
from operations.versions.training_domain import attribute_means
from records.basins import basins
from records.database.engine import Database
from records.runs.run_request import RunWeather, name_of_weather
from records.simulations.snow_cells import SnowMapping, mappings
from records.versions import recalibrations, versions
from records.weather import bridges, product_credits
from records.weather import weather_issues as weather
from records.weather.bridges import InForce
from runtime.clock import Clock


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""

    kind = "nothing-to-forecast"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """The inputs for the runs of one version.

    Attributes:
        basins: all basins of the runs.
        forcings: by basin, where available.
        bridges: by basin, those that produced the version's product, if any.
        snow: the cells that read as snow in each basin, or why none do.
        failures: why other basins have no forcing.
        credit: the credit for the weather of the version's product; None where no feed supplied any.
    """

    loaded: LoadedVersion
    basins: Mapping[str, basins.Basin]
    forcings: Mapping[str, BasinForcing]
    bridges: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can be computed.

    Attributes:
        forcings, weather: of its basins until T0, and after it.
        bridges: those that the weather passed through, by basin in the order of their use.
        failures: why other basins are not computed.
        forecast: the weather forecast that it uses, if any.
        changes: the changes of a what-if run; its `weather` is changed already.
    """

    inputs: ForecastInputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    failures: Mapping[str, Absent]
    forecast: RunWeather | None = None
    changes: Changes = UNCHANGED


def read_inputs(
    database: Database,
    params: ForecastParams,
    version: str,
    names: Sequence[str],
    known: Mapping[str, Day] | None = None,
) -> ForecastInputs:
    """Read the inputs for the runs of a version.

    Args:
        known: the last known day of each basin's record; None: all stored days are known.

    Raises:
        InvalidInput: the version takes another product than requested.
    """
    with database.reading() as session:
        loaded = load_version(session, version)
        _check_product(params, loaded.version)
        loadings = load_forcings(session, names, loaded.config, attribute_means(loaded.version), known)
        return ForecastInputs(
            loaded=loaded,
            basins={name: basins.get(session, name) for name in stage("basins read", names)},
            forcings={name: forcing for name, forcing in loadings.items() if isinstance(forcing, BasinForcing)},
            bridges=bridges.applied(session, loaded.version.product, names),
            snow=mappings(session, version, names),
            failures={name: reason for name, reason in loadings.items() if isinstance(reason, Absent)},
            credit=product_credits.by_product(session, [loaded.version.product]).get(loaded.version.product),
        )


def _check_product(params: ForecastParams, version: versions.Version) -> None:
    if params.product not in (None, version.product):
        raise InvalidInput(
            f"Version {version.id} takes {version.product}, not {params.product}, and products are never mixed: "
            f"forecast with {version.product}, or train a version on {params.product}."
        )


def plans(database: Database, inputs: ForecastInputs, clock: Clock, params: ForecastParams) -> list[Plan]:
    """Choose the days and weather of a version's runs, leaving out basins that lack either.

    There is one run; where the newest weather forecasts of the basins differ, there is one for each. The first lists
    why basins are left out.

    Raises:
        InvalidInput: T0 has not ended.
        UnknownWeather: the requested weather forecast does not exist.
        NothingToForecast: no basin can be forecast.
    """
    require(inputs.forcings, inputs.failures)
    possible, failures = possible_plans(database, inputs, clock, params)
    require(possible, failures)
    return [replace(possible[0], failures=failures), *possible[1:]]


def possible_plans(
    database: Database, inputs: ForecastInputs, clock: Clock, params: ForecastParams, known: datetime | None = None
) -> tuple[list[Plan], dict[str, Absent]]:
    """Return the plans for basins that have forcing, possibly none, and why others are left out.

    Args:
        known: instant by which a weather forecast must have been available; by default now, or for a requested T0 the
            end of the next day.
    """
    ended = {name: last_ended(inputs.basins[name], clock.now()) for name in inputs.forcings}
    days = choose_days(clock, params.t0, params.horizon, _last_t0(inputs, params), max(ended.values()))
    product = inputs.loaded.version.product
    reasons = {
        name: why_t0_unavailable(name, forcing, product, days.t0, ended[name])
        for name, forcing in inputs.forcings.items()
    }
    started = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    choices = _choices(database, inputs, clock, params, days, started=started, known=known or _known(clock, params.t0))
    failures |= {name: reason for choice in choices for name, reason in choice.failures.items()}
    possible = [
        Plan(
            inputs=inputs,
            days=days,
            forcings={name: started[name] for name in choice.weather},
            weather=choice.weather,
            bridges=_bridges(inputs, choice),
            failures={},
            forecast=choice.forecast,
        )
        for choice in choices
        if choice.weather
    ]
    return possible, failures


def require(usable: Collection[Any], failures: Mapping[str, Absent]) -> None:
    """Raise where there is nothing to forecast.

    Raises:
        NothingToForecast: with the reasons.
    """
    if not usable:
        reasons = [str(reason) for reason in failures.values()]
        more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""
        raise NothingToForecast(" ".join(reasons[:3]) + more)


def _last_t0(inputs: ForecastInputs, params: ForecastParams) -> Day:
    """Return the last T0 that the records allow. Observed weather must reach over the days ahead, too."""
    last = max(forcing.period.last for forcing in inputs.forcings.values())
    return last - np.timedelta64(params.horizon, "D") if KINDS[params.weather].of_record else last


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The weather of basins after T0, or why they have none, and the weather forecast it comes from.

    Attributes:
        bridges: those that the weather forecast and the weather until T0 passed through, by basin, where they are more
            than the one that produced the product.
    """

    outcomes: Mapping[str, WeatherAhead | Absent]
    forecast: RunWeather | None = None
    bridges: Mapping[str, Sequence[InForce]] = field(default_factory=dict)

    @property
    def weather(self) -> dict[str, WeatherAhead]:
        """By basin, where available."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, WeatherAhead)}

    @property
    def failures(self) -> dict[str, Absent]:
        """Why other basins have none."""
        return {name: outcome for name, outcome in self.outcomes.items() if isinstance(outcome, Absent)}


def _bridges(inputs: ForecastInputs, choice: _Chosen) -> dict[str, Sequence[InForce]]:
    """Return the bridges of each basin's weather: by default the one that produced its product, if any."""
    applied: dict[str, Sequence[InForce]] = {name: (bridge,) for name, bridge in inputs.bridges.items()}
    return {name: choice.bridges.get(name, applied.get(name, ())) for name in choice.weather}


def _choices(
    database: Database,
    inputs: ForecastInputs,
    clock: Clock,
    params: ForecastParams,
    days: RunDays,
    *,
    started: Mapping[str, BasinForcing],
    known: datetime,
) -> list[_Chosen]:
    """Return the weather of the basins after T0, by its kind."""
    if KINDS[params.weather].of_forecast:
        with database.reading() as session:
            at = known if params.weather_id is None else clock.now()
            return [*_supplied(session, inputs, params, days, started, at)]
    read, now = READERS[params.weather], clock.now()
    return [
        _Chosen(
            {name: read(name, forcing, days, last_ended(inputs.basins[name], now)) for name, forcing in started.items()}
        )
    ]


def _supplied(
    session: Session,
    inputs: ForecastInputs,
    params: ForecastParams,
    days: RunDays,
    started: Mapping[str, BasinForcing],
    at: datetime,
) -> Iterator[_Chosen]:
    """Yield the weather of the requested weather forecast, or of each that is the newest of some basins."""
    taken, product = inputs.loaded.config.inputs, inputs.loaded.version.product
    by_basin = (
        dict.fromkeys(started, params.weather_id)
        if params.weather_id is not None
        else _newest(session, inputs, days, list(started), at)
    )
    for issue in dict.fromkeys(by_basin.values()):
        names = [name for name in started if by_basin.get(name) == issue]
        forecasts = weather.read_many(session, issue, names, at)
        shown = bridged(session, forecasts, product, dict.fromkeys(forecasts, days), inputs.bridges)
        outcomes = {
            name: of_name
            if isinstance(of_name := shown.get(name), Absent)
            else supplied(name, started[name], days, taken, of_name)
            for name in names
        }
        over = {name: one.over for name, one in shown.items() if isinstance(one, BridgedForecast)}
        compared = Compared(
            product=product,
            inputs=taken,
            forcings={name: started[name] for name in names},
            in_force=inputs.bridges,
            days=days,
            at=at,
        )
        yield _Chosen(
            outcomes,
            _identity(session, inputs.loaded.version.id, weather.get(session, issue), forecasts, compared),
            over,
        )
    yield _Chosen(
        {name: supplied(name, forcing, days, taken, None) for name, forcing in started.items() if name not in by_basin}
    )


def _newest(
    session: Session, inputs: ForecastInputs, days: RunDays, names: Sequence[str], at: datetime
) -> dict[str, str]:
    """Return, by basin, the newest weather forecast known at an instant that covers its days."""
    by_days: dict[Period, list[str]] = {}
    for name in names:
        by_days.setdefault(needed(days, inputs.bridges.get(name)), []).append(name)
    newest: dict[str, str] = {}
    for period, of_period in by_days.items():
        newest |= weather.newest(session, of_period, at, period)
    return newest


def _identity(
    session: Session,
    version: str,
    issue: weather.Issue,
    forecasts: Mapping[str, WeatherForecast],
    compared: Compared,
) -> RunWeather | None:
    """Return a weather forecast as a run stores it. Return None where it covers none of the run's basins."""
    if not forecasts:
        return None
    return RunWeather(
        id=issue.id,
        source=issue.source,
        model=issue.model,
        reference_time=issue.reference_time,
        available_time=max(forecast.issue.available_time for forecast in forecasts.values()),
        licence=issue.licence,
        credit=issue.credit,
        skill=compared.skill(session, issue),
        recalibration=recalibrations.get(session, version, name_of_weather(issue.source, issue.model)),
    )


def _known(clock: Clock, t0: Day | None) -> datetime:
    """Return the instant by which a weather forecast must have been available.

    That is now, or for a requested T0 the end of the next day."""
    if t0 is None:
        return clock.now()
    end = datetime.combine(as_date(t0 + 2 * ONE_DAY), time(), UTC)
    return min(clock.now(), end)
