"""Inputs and plans of the runs of a version: those of its parts, put together.

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
from operations.forecasting.plan.of_part import inputs_of_part, instant_known, last_t0, plans_of_part
from operations.forecasting.plan.types import ForecastInputs, PartInputs, PartPlan, Plan
from operations.forecasting.weather.fill import Filling
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from records.database.work import Work
from records.runs.run_weather import RunWeather, name_of_weather
from records.simulations.snow_cells import mappings
from records.versions import error_models

_Key = tuple[RunDays, str | None]
"""The days of a plan, and its weather forecast."""
_Reasons = dict[str, dict[str, Absent]]
"""Why parts are absent, by basin and the name of the part."""


def inputs_of(
    session: Session, loaded: LoadedVersion, names: Sequence[str], known: Mapping[str, Day] | None
) -> ForecastInputs:
    """Read the inputs for the runs of a version: those of its parts.

    Args:
        known: the last known day of each basin's record; None: all stored days are known.
    """
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
    groups: dict[_Key, list[str]] = {}
    for name, of_basin in planned.items():
        if of_basin:
            groups.setdefault(_key(next(iter(of_basin.values()))), []).append(name)
    plans = [_together(work.database, inputs, key, names, planned, why) for key, names in groups.items()]
    failures = {name: why_none(why[name]) for name, of_basin in planned.items() if not of_basin}
    return plans, {**inputs.failures, **failures}


def _together(
    database: Database,
    inputs: ForecastInputs,
    key: _Key,
    names: Sequence[str],
    planned: Mapping[str, Mapping[str, PartPlan]],
    why: _Reasons,
) -> Plan:
    """Return the plan of basins whose leading parts have the same days and weather forecast."""
    parts = []
    for one in inputs.parts:
        there = {name: planned[name][one.part.name] for name in names if one.part.name in planned[name]}
        alike = {name: plan for name, plan in there.items() if _key(plan) == key}
        for name in there.keys() - alike.keys():
            why[name][one.part.name] = absent(Reason.PART_OF_OTHER_DAYS, product=one.part.product)
        if alike:
            parts.append(next(iter(alike.values())).only(alike))
    return Plan(
        inputs=inputs,
        parts=tuple(parts),
        days=key[0],
        forcings={name: next(one.forcings[name] for one in parts if name in one.forcings) for name in names},
        forecast=_forecast(database, inputs, parts[0].forecast),
        absent_parts={name: why[name] for name in names if why[name]},
    )


def _forecast(database: Database, inputs: ForecastInputs, used: RunWeather | None) -> RunWeather | None:
    """Return the weather forecast with the recalibration of the version."""
    if used is None:
        return None
    with database.reading() as session:
        name = name_of_weather(used.source, used.model)
        return replace(used, recalibration=error_models.recalibration_of(session, inputs.loaded.version.id, name))


def _key(plan: PartPlan) -> _Key:
    return plan.days, None if plan.forecast is None else plan.forecast.id


def why_none(reasons: Mapping[str, Absent]) -> Absent:
    """Return why no part can be used in a basin."""
    different = list(dict.fromkeys(map(str, reasons.values())))
    return absent(Reason.NO_PART, reasons=" ".join(different)) if len(different) > 1 else next(iter(reasons.values()))
