"""Plans of forecast runs: the inputs, days and weather of a version, put together from those of its parts.

Every part has its own forcing, weather after T0 and states. In a basin, those parts take part that can be planned from
the same T0 over the same days with the same weather forecast; the others are absent, with the reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time
from typing import Any, TypeVar

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, as_date
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.products import Credit
from hydrology.base.reasons import Reason
from hydrology.weather.forcing_kinds import KINDS
from jobspec.changes import UNCHANGED, Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.basin_data.dataset import BasinForcing, forcings_of
from operations.forecasting.weather_ahead import RunDays, WeatherAhead, choose_days, why_t0_unavailable
from operations.forecasting.weather_choice import Filling, WeatherChoice, WeatherPlan
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedPart, LoadedVersion, load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.work import Work
from records.feeds import feeds
from records.runs.run_weather import RunBridge, RunWeather, name_of_weather
from records.simulations.snow_cells import SnowMapping, mappings
from records.versions import error_models, versions
from records.versions.version_properties import VersionPart
from records.weather import bridges
from records.weather.bridges import InForce
from runtime.clock import Clock

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInputs:
    """The inputs for the runs of a part; the credit is None where no feed supplied its product's weather."""

    part: VersionPart
    loaded: LoadedVersion
    basins: Mapping[str, Basin]
    forcings: Mapping[str, BasinForcing]
    bridges: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None

    def only(self, names: Collection[str]) -> "PartInputs":
        return replace(self, forcings=_only(self.forcings, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """The inputs of a version's runs, the largest weight first.

    The forcing of a basin is that of the part whose record ends last.
    """

    loaded: LoadedVersion
    parts: tuple[PartInputs, ...]
    forcings: Mapping[str, BasinForcing]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]

    @property
    def basins(self) -> Mapping[str, Basin]:
        return self.parts[0].basins

    @property
    def by_version(self) -> dict[str, PartInputs]:
        return {one.part.version: one for one in self.parts}

    def only(self, names: Collection[str]) -> "ForecastInputs":
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan:
    """The run of a part where it takes part: forcing until T0, weather after it, and bridges in order of use."""

    inputs: PartInputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    forecast: RunWeather | None

    @property
    def part(self) -> VersionPart:
        return self.inputs.part

    @property
    def loaded(self) -> LoadedVersion:
        return self.inputs.loaded

    def only(self, names: Collection[str]) -> "PartPlan":
        return replace(self, forcings=_only(self.forcings, names), weather=_only(self.weather, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can be computed, with the plans of its parts.

    Its parameters have the T0 of the run, and its forcing is that of the first part. `changes` are those of a what-if
    run, already applied to the weather of the parts. `absent_parts`: why others do not take part, by basin and part
    name.
    """

    inputs: ForecastInputs
    params: ForecastParams
    parts: tuple[PartPlan, ...]
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    forecast: RunWeather | None
    failures: Mapping[str, Absent] = field(default_factory=dict)
    changes: Changes = UNCHANGED
    absent_parts: Mapping[str, Mapping[str, Absent]] = field(default_factory=dict)

    def only(self, names: Collection[str]) -> "Plan":
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)

    @property
    def by_version(self) -> dict[str, PartPlan]:
        return {one.part.version: one for one in self.parts}

    def parts_in(self, basin: str) -> list[PartPlan]:
        """Return the parts that take part in a basin, in the order of the version's."""
        return [one for one in self.parts if basin in one.forcings]

    def bridges_in(self, basin: str) -> tuple[RunBridge, ...]:
        """Return the bridges that the weather of a basin passed through, each once."""
        used = [one.used for part in self.parts_in(basin) for one in part.bridges[basin]]
        return tuple({one.sha256: one for one in used}.values())


def _only(of_basins: Mapping[str, V], names: Collection[str]) -> dict[str, V]:
    return {name: value for name, value in of_basins.items() if name in names}


def inputs_of_part(
    session: Session, one: LoadedPart, names: Sequence[str], known: Mapping[str, Day] | None
) -> PartInputs:
    """Read the inputs for the runs of a part; to each basin's last known day, None for all stored days."""
    loaded, product = one.loaded, one.part.product
    loadings = forcings_of(session, loaded, names, known)
    return PartInputs(
        part=one.part,
        loaded=loaded,
        basins=basins.get_many(session, names),
        forcings={name: forcing for name, forcing in loadings.items() if isinstance(forcing, BasinForcing)},
        bridges=bridges.applied(session, product, names),
        snow=mappings(session, loaded.version.id, names),
        failures={name: reason for name, reason in loadings.items() if isinstance(reason, Absent)},
        credit=feeds.credits_of(session, [product]).get(product),
    )


def plans_of_part(
    work: Work,
    inputs: PartInputs,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
) -> tuple[list[PartPlan], dict[str, Absent]]:
    """Return the plans of a part, as `operations.forecasting.plans.possible_plans` does of a version."""
    if not inputs.forcings:
        return [], dict(inputs.failures)
    ended = {name: last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings}
    days = choose_days(work.clock, params.t0, params.horizon, last_t0(inputs, params), max(ended.values()))
    if filling is not None:
        days = RunDays(days.t0, days.horizon + filling.days, filling.days)
    product = inputs.part.product
    reasons = {
        name: why_t0_unavailable(name, forcing, product, days.t0, ended[name])
        for name, forcing in inputs.forcings.items()
    }
    started = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    chosen = WeatherChoice(inputs.loaded, inputs.bridges, params, days, started=started, filling=filling, ended=ended)
    choices = chosen.choices(work, known or instant_known(work.clock, params.t0))
    failures |= {name: reason for choice in choices for name, reason in choice.failures.items()}
    possible = [
        PartPlan(
            inputs=inputs,
            days=choice.days,
            forcings={name: started[name] for name in choice.weather},
            weather=choice.weather,
            bridges=_bridges(inputs, choice),
            forecast=choice.forecast,
        )
        for choice in choices
        if choice.weather
    ]
    return possible, failures


def last_t0(inputs: PartInputs, params: ForecastParams) -> Day:
    """Return the last T0 that the records allow. Observed weather must reach over the days ahead, too."""
    last = max(forcing.period.last for forcing in inputs.forcings.values())
    return last - np.timedelta64(params.horizon, "D") if KINDS[params.weather].of_record else last


def _bridges(inputs: PartInputs, choice: WeatherPlan) -> dict[str, Sequence[InForce]]:
    applied: dict[str, Sequence[InForce]] = {name: (bridge,) for name, bridge in inputs.bridges.items()}
    return {name: choice.bridges.get(name, applied.get(name, ())) for name in choice.weather}


def instant_known(clock: Clock, t0: Day | None) -> datetime:
    """Return when a weather forecast must have been available: now, or the end of the day after a requested T0."""
    if t0 is None:
        return clock.now()
    end = datetime.combine(as_date(t0 + 2 * ONE_DAY), time(), UTC)
    return min(clock.now(), end)


_Key = tuple[RunDays, str | None]
"""The days of a plan, and its weather forecast."""
_Reasons = dict[str, dict[str, Absent]]
"""Why parts are absent, by basin and the name of the part."""


def inputs_of(
    session: Session, loaded: LoadedVersion, names: Sequence[str], known: Mapping[str, Day] | None
) -> ForecastInputs:
    """Read the inputs for the runs of a version; to each basin's last known day, None for all stored days."""
    parts = tuple(inputs_of_part(session, one, names, known) for one in loaded.parts)
    failures = {
        name: why_none({one.part.name: one.failures[name] for one in parts})
        for name in names
        if all(name in one.failures for one in parts)
    }
    snow = mappings(session, loaded.version.id, names)
    return ForecastInputs(loaded=loaded, parts=parts, forcings=_longest(parts, names), snow=snow, failures=failures)


def _longest(parts: Sequence[PartInputs], names: Sequence[str]) -> dict[str, BasinForcing]:
    """Return the forcing of each basin that ends last; of equal ones, that of the largest weight."""
    there = {name: [one.forcings[name] for one in parts if name in one.forcings] for name in names}
    return {name: max(of_basin, key=lambda one: one.period.last) for name, of_basin in there.items() if of_basin}


def possible_plans(
    work: Work,
    inputs: ForecastInputs,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
) -> tuple[list[Plan], dict[str, Absent]]:
    """Return the plans for basins that have forcing, possibly none, and why others are left out.

    Without a requested T0, it is the last that any part allows.

    Args:
        known: instant by which a weather forecast must have been available; by default now, or for a requested T0 the
            end of the next day.
        filling: how missing weather is filled, and the past days after T0, by which the days ahead are extended; None:
            nothing is filled.
    """
    if not inputs.forcings:
        return [], dict(inputs.failures)
    last = max(last_t0(one, params) for one in inputs.parts if one.forcings)
    ended = max(last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings)
    asked = params.model_copy(update={"t0": choose_days(work.clock, params.t0, params.horizon, last, ended).t0})
    planned: dict[str, dict[str, PartPlan]] = {name: {} for name in inputs.forcings}
    why: _Reasons = {name: {} for name in inputs.forcings}
    known = known or instant_known(work.clock, params.t0)
    for one in inputs.parts:
        own = None if filling is None else filling.of_part(one.part.name)
        possible, failed = plans_of_part(work, one, asked, known, own)
        for plan in possible:
            for name in plan.forcings:
                planned[name][one.part.name] = plan
        for name in why.keys() & failed.keys():
            why[name][one.part.name] = failed[name]
    groups: dict[_Key, dict[str, dict[str, PartPlan]]] = {}
    for name, of_basin in planned.items():
        if of_basin:
            groups.setdefault(_key(next(iter(of_basin.values()))), {})[name] = of_basin
    plans = [_together(work.database, inputs, asked, key, of_key, why) for key, of_key in groups.items()]
    failures = {name: why_none(why[name]) for name, of_basin in planned.items() if not of_basin}
    return plans, {**inputs.failures, **failures}


def _together(
    database: Database,
    inputs: ForecastInputs,
    params: ForecastParams,
    key: _Key,
    planned: Mapping[str, Mapping[str, PartPlan]],
    why: _Reasons,
) -> Plan:
    parts = []
    for one in inputs.parts:
        there = {name: planned[name][one.part.name] for name in planned if one.part.name in planned[name]}
        alike = {name: plan for name, plan in there.items() if _key(plan) == key}
        for name in there.keys() - alike.keys():
            why[name][one.part.name] = absent(Reason.PART_OF_OTHER_DAYS, product=one.part.product)
        if alike:
            parts.append(next(iter(alike.values())).only(alike))
    return Plan(
        inputs=inputs,
        params=params,
        parts=tuple(parts),
        days=key[0],
        forcings={name: next(one.forcings[name] for one in parts if name in one.forcings) for name in planned},
        forecast=_forecast(database, inputs, parts[0].forecast),
        absent_parts={name: why[name] for name in planned if why[name]},
    )


def _forecast(database: Database, inputs: ForecastInputs, used: RunWeather | None) -> RunWeather | None:
    if used is None:
        return None
    with database.reading() as session:
        name = name_of_weather(used.source, used.model)
        return replace(used, recalibration=error_models.recalibration_of(session, inputs.loaded.version.id, name))


def _key(plan: PartPlan) -> _Key:
    return plan.days, None if plan.forecast is None else plan.forecast.id


def why_none(reasons: Mapping[str, Absent]) -> Absent:
    different = list(dict.fromkeys(map(str, reasons.values())))
    return absent(Reason.NO_PART, reasons=" ".join(different)) if len(different) > 1 else next(iter(reasons.values()))


__all__ = ["ForecastInputs", "NothingToForecast", "Plan", "plans", "possible_plans", "read_inputs", "require"]


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""

    kind = "nothing-to-forecast"


def read_inputs(
    database: Database,
    version: str,
    names: Sequence[str],
    known: Mapping[str, Day] | None = None,
    *,
    product: str | None = None,
) -> ForecastInputs:
    """Read a version's inputs; to each basin's last known day, None for all stored days."""
    with database.reading() as session:
        loaded = load_version(session, version)
        _require_product(loaded.version, product)
        return inputs_of(session, loaded, names, known)


def _require_product(version: versions.Version, product: str | None) -> None:
    if product not in (None, version.product):
        raise InvalidInput(
            f"Version {version.id} takes {version.product}, not {product}, and products are never mixed: "
            f"forecast with {version.product}, or train a version on {product}."
        )


def plans(work: Work, inputs: ForecastInputs, params: ForecastParams) -> list[Plan]:
    """Choose the days and weather of a version's runs, leaving out basins that lack either.

    There is one run; where the newest weather forecasts of the basins differ, there is one for each. The first lists
    why basins are left out.
    """
    require(inputs.forcings, inputs.failures)
    possible, failures = possible_plans(work, inputs, params)
    require(possible, failures)
    return [replace(possible[0], failures=failures), *possible[1:]]


def require(usable: Collection[Any], failures: Mapping[str, Absent]) -> None:
    """Raise where there is nothing to forecast, with the reasons."""
    if not usable:
        reasons = [str(reason) for reason in failures.values()]
        more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""
        raise NothingToForecast(" ".join(reasons[:3]) + more)
