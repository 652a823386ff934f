"""Inputs of a forecast run, and the runs that can be computed. Basins, days and weather."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date
from hydrology.base.credit import Credit
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.weather.forcing_kinds import KINDS
from jobspec.changes import UNCHANGED, Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.basin_data.dataset import BasinForcing, load_forcings
from operations.forecasting.days import RunDays, choose_days, why_t0_unavailable
from operations.forecasting.weather.choose import Chosen, WeatherChoice
from operations.forecasting.weather.fill import Filling
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.stages import stage
from operations.versions.training_domain import attribute_means
from records.basins import basins
from records.database.engine import Database
from records.runs.run_request import RunWeather
from records.simulations.snow_cells import SnowMapping, mappings
from records.versions import versions
from records.weather import bridges, product_credits
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
    database: Database,
    inputs: ForecastInputs,
    clock: Clock,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
) -> tuple[list[Plan], dict[str, Absent]]:
    """Return the plans for basins that have forcing, possibly none, and why others are left out.

    Args:
        known: instant by which a weather forecast must have been available; by default now, or for a requested T0 the
            end of the next day.
        filling: how missing weather is filled, and the past days after T0, by which the days ahead are extended; None:
            nothing is filled.
    """
    ended = {name: last_ended(inputs.basins[name], clock.now()) for name in inputs.forcings}
    days = choose_days(clock, params.t0, params.horizon, _last_t0(inputs, params), max(ended.values()))
    if filling is not None:
        days = RunDays(days.t0, days.horizon + filling.days, filling.days)
    product = inputs.loaded.version.product
    reasons = {
        name: why_t0_unavailable(name, forcing, product, days.t0, ended[name])
        for name, forcing in inputs.forcings.items()
    }
    started = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    chosen = WeatherChoice(inputs.loaded, inputs.bridges, params, days, started=started, filling=filling, ended=ended)
    choices = chosen.choices(database, clock, known or _known(clock, params.t0))
    failures |= {name: reason for choice in choices for name, reason in choice.failures.items()}
    possible = [
        Plan(
            inputs=inputs,
            days=choice.days,
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


def _bridges(inputs: ForecastInputs, choice: Chosen) -> dict[str, Sequence[InForce]]:
    """Return the bridges of each basin's weather: by default the one that produced its product, if any."""
    applied: dict[str, Sequence[InForce]] = {name: (bridge,) for name, bridge in inputs.bridges.items()}
    return {name: choice.bridges.get(name, applied.get(name, ())) for name in choice.weather}


def _known(clock: Clock, t0: Day | None) -> datetime:
    """Return the instant by which a weather forecast must have been available.

    That is now, or for a requested T0 the end of the next day."""
    if t0 is None:
        return clock.now()
    end = datetime.combine(as_date(t0 + 2 * ONE_DAY), time(), UTC)
    return min(clock.now(), end)
