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
from operations.basin_data.dataset import BasinForcing, forcings_of, inputs_key
from operations.forecasting.weather_ahead import RunDays, WeatherAhead, choose_days, why_t0_unavailable
from operations.forecasting.weather_choice import NO_SKILLS, Filling, Key, Skills, WeatherChoice
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedPart, LoadedVersion, load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.database.stored import as_values, grouped
from records.database.work import Work
from records.feeds import feeds
from records.runs.run_weather import RunWeather, WeatherSkill, name_of_weather
from records.series import revisions
from records.simulations.snow_cells import SnowMapping, mappings
from records.versions import error_models
from records.versions.version_properties import VersionPart
from records.weather import bridges
from records.weather.bridges import InForce
from runtime.clock import Clock

V = TypeVar("V")


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInputs:
    """The inputs for the runs of a part.

    Attributes:
        credit: None where no feed supplied its product's weather.
        by: instant by which observed weather and flow must have arrived; None: whenever they did.
    """

    part: VersionPart
    loaded: LoadedVersion
    basins: Mapping[str, Basin]
    forcings: Mapping[str, BasinForcing]
    in_force: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None
    by: datetime | None

    def only(self, names: Collection[str]) -> "PartInputs":
        return replace(self, forcings=_only(self.forcings, names))

    def last_t0(self, params: ForecastParams) -> Day:
        """Return the last T0 that the records allow. Observed weather must reach over the days ahead, too."""
        last = max(forcing.period.last for forcing in self.forcings.values())
        return last - np.timedelta64(params.horizon, "D") if KINDS[params.weather].of_record else last


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

    @property
    def by(self) -> datetime | None:
        return self.parts[0].by

    def only(self, names: Collection[str]) -> "ForecastInputs":
        """Return the inputs of some basins, without why others have none."""
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts, failures={})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan(PartInputs):
    """The run of a part where it takes part: forcing until T0, weather after it, and bridges in order of use."""

    days: RunDays
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    forecast: RunWeather | None

    def only(self, names: Collection[str]) -> "PartPlan":
        return replace(self, forcings=_only(self.forcings, names), weather=_only(self.weather, names))

    @property
    def key(self) -> Key:
        return self.days, None if self.forecast is None else self.forecast.id


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


_NEVER = np.datetime64("0001-01-01", "D")
"""Before all days: the last known one of a basin of which nothing had arrived."""
_Loadings = dict[str, BasinForcing | Absent]


def _only(of_basins: Mapping[str, V], names: Collection[str]) -> dict[str, V]:
    return {name: value for name, value in of_basins.items() if name in names}


def read_inputs(
    database: Database,
    version: str,
    names: Sequence[str],
    known: Mapping[str, Day] | None = None,
    *,
    product: str | None = None,
    by: datetime | None = None,
) -> ForecastInputs:
    """Read a version's inputs; to each basin's last known day, None for all stored days; `by` as in `PartInputs`."""
    with database.reading() as session:
        loaded = load_version(session, version)
        if product not in (None, loaded.version.product):
            raise InvalidInput(
                f"Version {version} takes {loaded.version.product}, not {product}, and products are never mixed: "
                f"forecast with {loaded.version.product}, or train a version on {product}."
            )
        stored = basins.get_many(session, names)
        different = {inputs_key(one.loaded): one.loaded for one in loaded.parts}
        read = {key: _read_forcings(session, one, names, known, by) for key, one in different.items()}
        parts = tuple(_inputs_of_part(session, one, stored, read[inputs_key(one.loaded)], by) for one in loaded.parts)
        snow = mappings(session, version, names)
    failures = {
        name: why_none({one.part.name: one.failures[name] for one in parts})
        for name in names
        if all(name in one.failures for one in parts)
    }
    there = {name: [one.forcings[name] for one in parts if name in one.forcings] for name in names}
    # Of those that end equally late, that of the largest weight.
    longest = {name: max(of_basin, key=lambda one: one.period.last) for name, of_basin in there.items() if of_basin}
    return ForecastInputs(loaded=loaded, parts=parts, forcings=longest, snow=snow, failures=failures)


def _read_forcings(
    session: Session, one: LoadedVersion, names: Sequence[str], known: Mapping[str, Day] | None, by: datetime | None
) -> _Loadings:
    if by is not None:
        inputs = one.config.inputs
        last = revisions.last_arrived(session, names, inputs.product, (inputs.mass, *inputs.auxiliary), by)
        known = {name: min(last.get(name, _NEVER), (known or last).get(name, _NEVER)) for name in names}
    return forcings_of(session, one, names, known)


def _inputs_of_part(
    session: Session, one: LoadedPart, stored: Mapping[str, Basin], read: _Loadings, by: datetime | None
) -> PartInputs:
    names = [*stored]
    return PartInputs(
        part=one.part,
        loaded=one.loaded,
        basins=stored,
        forcings={name: forcing for name, forcing in read.items() if isinstance(forcing, BasinForcing)},
        in_force=bridges.applied(session, one.part.product, names),
        snow=mappings(session, one.loaded.version.id, names),
        failures={name: reason for name, reason in read.items() if isinstance(reason, Absent)},
        credit=feeds.credits_of(session, [one.part.product]).get(one.part.product),
        by=by,
    )


def plans_of_part(
    work: Work,
    inputs: PartInputs,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
    repeated: RunWeather | None = None,
    skills: Skills = NO_SKILLS,
) -> tuple[list[PartPlan], dict[str, Absent]]:
    """Return the plans of a part, as `possible_plans` does of a version; the last two as in `WeatherChoice`."""
    if not inputs.forcings:
        return [], dict(inputs.failures)
    ended = {name: last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings}
    days = choose_days(work.clock, params.t0, params.horizon, inputs.last_t0(params), max(ended.values()))
    if filling is not None:
        days = RunDays(days.t0, days.horizon + filling.days, filling.days)
    reasons = {
        name: why_t0_unavailable(name, forcing, inputs.part.product, days.t0, ended[name])
        for name, forcing in inputs.forcings.items()
    }
    started = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    choices = WeatherChoice(
        version=inputs.loaded.version.id,
        product=inputs.loaded.version.product,
        inputs=inputs.loaded.config.inputs,
        forcings=started,
        in_force=inputs.in_force,
        days=days,
        at=known or instant_known(work.clock, params.t0),
        params=params,
        filling=filling,
        ended=ended,
        by=inputs.by,
        repeated=repeated,
        skills=skills,
    ).choices(work)
    outcomes = [pair for choice in choices for pair in choice.outcomes.items()]
    failures |= {name: outcome for name, outcome in outcomes if isinstance(outcome, Absent)}
    possible = [
        PartPlan(
            **as_values(inputs, "forcings"),
            forcings={name: started[name] for name in choice.weather},
            days=choice.days,
            weather=choice.weather,
            bridges=choice.bridges,
            forecast=choice.forecast,
        )
        for choice in choices
        if choice.weather
    ]
    return possible, failures


def instant_known(clock: Clock, t0: Day | None) -> datetime:
    """Return when a weather forecast must have been available: now, or the end of the day after a requested T0."""
    if t0 is None:
        return clock.now()
    end = datetime.combine(as_date(t0 + 2 * ONE_DAY), time(), UTC)
    return min(clock.now(), end)


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
    last = max(one.last_t0(params) for one in inputs.parts if one.forcings)
    ended = max(last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings)
    asked = params.model_copy(update={"t0": choose_days(work.clock, params.t0, params.horizon, last, ended).t0})
    planned: dict[str, dict[str, PartPlan]] = {name: {} for name in inputs.forcings}
    why: dict[str, dict[str, Absent]] = {name: {} for name in inputs.forcings}
    known, skills = known or instant_known(work.clock, params.t0), dict[Key, WeatherSkill]()
    for one in inputs.parts:
        own = None if filling is None else filling.of_part(one.part.name)
        possible, failed = plans_of_part(work, one, asked, known, own, skills=skills)
        for plan in possible:
            if plan.forecast is not None:
                skills.setdefault(plan.key, plan.forecast.skill)
            for name in plan.forcings:
                planned[name][one.part.name] = plan
        for name in why.keys() & failed.keys():
            why[name][one.part.name] = failed[name]
    groups = grouped((next(iter(of_basin.values())).key, name) for name, of_basin in planned.items() if of_basin)
    plans = []
    for key, names in groups.items():
        parts = list[PartPlan]()
        for one in inputs.parts:
            there = {name: planned[name][one.part.name] for name in names if one.part.name in planned[name]}
            alike = {name: plan for name, plan in there.items() if plan.key == key}
            for name in there.keys() - alike.keys():
                why[name][one.part.name] = absent(Reason.PART_OF_OTHER_DAYS, product=one.part.product)
            if alike:
                parts.append(next(iter(alike.values())).only(alike))
        plans.append(
            Plan(
                inputs=inputs,
                params=asked,
                parts=tuple(parts),
                days=key[0],
                forcings={name: next(one.forcings[name] for one in parts if name in one.forcings) for name in names},
                forecast=_forecast(work.database, inputs, parts[0].forecast),
                absent_parts={name: why[name] for name in names if why[name]},
            )
        )
    failures = {name: why_none(why[name]) for name, of_basin in planned.items() if not of_basin}
    return plans, {**inputs.failures, **failures}


def _forecast(database: Database, inputs: ForecastInputs, used: RunWeather | None) -> RunWeather | None:
    if used is None:
        return None
    with database.reading() as session:
        name = name_of_weather(used.source, used.model)
        return replace(used, recalibration=error_models.recalibration_of(session, inputs.loaded.version.id, name))


def why_none(reasons: Mapping[str, Absent]) -> Absent:
    different = list(dict.fromkeys(map(str, reasons.values())))
    return absent(Reason.NO_PART, reasons=" ".join(different)) if len(different) > 1 else next(iter(reasons.values()))


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
