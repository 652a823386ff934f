"""Inputs and plans of the runs of a version that combines others.

Every part has its own forcing, weather after T0 and states. In a basin, those parts take part that can be planned from
the same T0 over the same days with the same weather forecast; the others are absent, with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day
from hydrology.base.reasons import Reason
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays, choose_days
from operations.forecasting.plan.of_version import Plans, inputs_of, instant_known, last_t0, plans_of
from operations.forecasting.plan.types import ForecastInputs, PartInputs, PartPlan, Plan
from operations.forecasting.weather.fill import Filling
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.runs.run_request import RunWeather, name_of_weather
from records.simulations.snow_cells import mappings
from records.versions import recalibrations
from records.weather.bridges import InForce
from runtime.clock import Clock

_Key = tuple[RunDays, str | None]
"""The days of a plan, and its weather forecast."""
_Reasons = dict[str, dict[str, Absent]]
"""Why parts are absent, by basin and the name of the part."""


def combined_inputs(
    session: Session, loaded: LoadedVersion, names: Sequence[str], known: Mapping[str, Day] | None
) -> ForecastInputs:
    """Read the inputs for the runs of a combined version: those of its parts."""
    parts = tuple(PartInputs(one.part, inputs_of(session, one.loaded, names, known)) for one in loaded.parts)
    failures = {
        name: why_none({one.part.name: one.inputs.failures[name] for one in parts})
        for name in names
        if all(name in one.inputs.failures for one in parts)
    }
    return ForecastInputs(
        loaded=loaded,
        basins=parts[0].inputs.basins,
        forcings=_longest(parts, names),
        bridges={},
        snow=mappings(session, loaded.version.id, names),
        failures=failures,
        credit=None,
        parts=parts,
    )


def _longest(parts: Sequence[PartInputs], names: Sequence[str]) -> dict[str, BasinForcing]:
    """Return the forcing of each basin that ends last; of equal ones, that of the largest weight."""
    longest: dict[str, BasinForcing] = {}
    for name in names:
        for one in parts:
            forcing = one.inputs.forcings.get(name)
            if forcing is not None and (name not in longest or forcing.period.last > longest[name].period.last):
                longest[name] = forcing
    return longest


def combined_plans(
    database: Database,
    inputs: ForecastInputs,
    clock: Clock,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
) -> Plans:
    """Return the plans of a combined version. Without a requested T0, it is the last that any part allows."""
    if not inputs.forcings:
        return [], dict(inputs.failures)
    parts = [PartInputs(one.part, one.inputs.only(inputs.forcings)) for one in inputs.parts]
    last = max(last_t0(one.inputs, params) for one in parts if one.inputs.forcings)
    ended = max(last_ended(inputs.basins[name], clock.now()) for name in inputs.forcings)
    asked = params.model_copy(update={"t0": choose_days(clock, params.t0, params.horizon, last, ended).t0})
    planned: dict[str, dict[str, tuple[PartInputs, Plan]]] = {name: {} for name in inputs.forcings}
    why: _Reasons = {name: {} for name in inputs.forcings}
    known = known or instant_known(clock, params.t0)
    for one in parts:
        of_part = one.inputs
        failed: Mapping[str, Absent] = of_part.failures
        possible: list[Plan] = []
        if of_part.forcings:
            own = None if filling is None else filling.of_part(one.part.name)
            possible, failed = plans_of(database, of_part, clock, asked, known, own)
        for plan in possible:
            for name in plan.forcings:
                planned[name][one.part.name] = (one, plan)
        for name in why.keys() & failed.keys():
            why[name][one.part.name] = failed[name]
    groups: dict[_Key, list[str]] = {}
    for name, of_basin in planned.items():
        if of_basin:
            _, leading = next(iter(of_basin.values()))
            groups.setdefault(_key(leading), []).append(name)
    plans = [_together(database, inputs, key, names, planned, why) for key, names in groups.items()]
    failures = {name: why_none(why[name]) for name, of_basin in planned.items() if not of_basin}
    return plans, {**inputs.failures, **failures}


def _together(
    database: Database,
    inputs: ForecastInputs,
    key: _Key,
    names: Sequence[str],
    planned: Mapping[str, Mapping[str, tuple[PartInputs, Plan]]],
    why: _Reasons,
) -> Plan:
    """Return the plan of basins whose leading parts have the same days and weather forecast."""
    parts = []
    for one in inputs.parts:
        of_part: list[str] = []
        plan: Plan | None = None
        for name in names:
            if (found := planned[name].get(one.part.name)) is None:
                continue
            if _key(found[1]) == key:
                of_part.append(name)
                plan = found[1]
            else:
                why[name][one.part.name] = absent(Reason.PART_OF_OTHER_DAYS, product=one.part.product)
        if plan is not None:
            parts.append(PartPlan(one.part, plan.only(of_part)))
    leading = {name: next(one.plan for one in parts if name in one.plan.forcings) for name in names}
    return Plan(
        inputs=inputs,
        days=key[0],
        forcings={name: plan.forcings[name] for name, plan in leading.items()},
        weather={name: plan.weather[name] for name, plan in leading.items()},
        bridges={name: _bridges(parts, name) for name in names},
        failures={},
        forecast=_forecast(database, inputs, parts[0].plan.forecast),
        parts=tuple(parts),
        absent_parts={name: why[name] for name in names if why[name]},
    )


def _bridges(parts: Sequence[PartPlan], basin: str) -> list[InForce]:
    """Return the bridges of all parts in a basin, each once."""
    found: dict[str, InForce] = {}
    for one in parts:
        if basin in one.plan.forcings:
            found |= {bridge.used.sha256: bridge for bridge in one.plan.bridges[basin]}
    return list(found.values())


def _forecast(database: Database, inputs: ForecastInputs, used: RunWeather | None) -> RunWeather | None:
    """Return the weather forecast with the recalibration of the combined version."""
    if used is None:
        return None
    with database.reading() as session:
        name = name_of_weather(used.source, used.model)
        return replace(used, recalibration=recalibrations.get(session, inputs.loaded.version.id, name))


def _key(plan: Plan) -> _Key:
    return plan.days, None if plan.forecast is None else plan.forecast.id


def why_none(reasons: Mapping[str, Absent]) -> Absent:
    """Return why no part can be used in a basin."""
    different = list(dict.fromkeys(map(str, reasons.values())))
    return absent(Reason.NO_PART, reasons=" ".join(different)) if len(different) > 1 else next(iter(reasons.values()))
