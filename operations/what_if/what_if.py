"""What-if runs: a forecast with other weather after T0, or with more or less water in the basin at T0.

Each is stored with its changes, beside the unchanged run to compare it with. They are separate from forecasts: they
become no latest forecast, decide no alerts, are not verified, and store no states.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import structlog

from hydrology.base.absent import Absent
from jobspec.changes import Changes
from jobspec.jobs.forecasting import ForecastParams, WhatIfParams
from operations.forecasting.forecast import basins_by_version, new_run
from operations.forecasting.forecast_plan import Plan, plans, read_inputs, require
from operations.forecasting.inputs_hash import inputs_hash
from operations.forecasting.parts.results import results_of
from operations.forecasting.plan.types import PartPlan
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import ONE_DAY
from operations.what_if.changed_weather import changed
from records.database.work import Work
from records.outlooks.outlooks import prepare, store_run
from records.runs import run_types, runs
from records.runs.run_weather import RunWeather, RunWhatIf

log = structlog.get_logger()

Results = Sequence[run_types.BasinResult]


def what_if(
    work: Work,
    params: WhatIfParams,
    *,
    by: str | None = None,
    owner: str | None = None,
    key: str | None = None,
) -> list[run_types.Run]:
    """Compute a changed run for each version that the basins use, and for each weather forecast.

    It is compared with an unchanged run of the same version, T0, horizon and weather, which is computed too where no
    stored run has the same inputs.

    Args:
        by: who requests it.
        owner, key: as in `operations.forecasting.forecast.forecast`.

    Raises:
        InvalidInput: no basin is stored, T0 is in the future, or a version takes another product.
        UnknownVersion, UnknownBasin, UnknownWeather: one does not exist.
        NothingToForecast: no basin can be forecast, or the changes can be applied in none; nothing is stored.
    """
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        if key is not None and (earlier := runs.of_key(session, key)):
            return earlier
    forecast = params.forecast
    inputs = [read_inputs(work.database, forecast, version, names) for version, names in groups.items()]
    planned = [plan for of_version in inputs for plan in plans(work, of_version, forecast)]
    changed_plans = [changed_plan(plan, params.changes) for plan in planned]
    results = [_computed(work, plan, forecast) for plan in changed_plans]
    asked = RunWhatIf(changes=params.changes.as_json(), note=params.note, by=by)
    bases = [
        _base(work, params, plan, of_plan, asked=asked, owner=owner)
        for plan, of_plan in zip(planned, results, strict=True)
    ]
    new = [
        new_run(
            plan,
            work.clock,
            params.weather,
            "what-if",
            key=key,
            what_if=replace(asked, base=base),
            owner=owner,
            t0_named=params.t0 is not None,
        )
        for plan, base in zip(changed_plans, bases, strict=True)
    ]
    with work.database.reading() as session:
        prepared = {run.id: prepare(session, run, of_plan) for run, of_plan in zip(new, results, strict=True)}
    with work.database.transaction() as session:
        if key is not None and (earlier := runs.of_key(session, key)):
            return earlier
        created = [
            store_run(session, run, of_plan, prepared[run.id]) for run, of_plan in zip(new, results, strict=True)
        ]
    for run in created:
        log.info("whatif.run", run=run.id, version=run.version_id, t0=str(run.t0), status=run.status)
    return created


def changed_plan(plan: Plan, changes: Changes) -> Plan:
    """Return a plan with the changed weather, without the basins in which it cannot be changed.

    Raises:
        NothingToForecast: it can be changed in none.
    """
    if changes.nothing:
        return plan
    changed_there = _changed(plan, changes)
    require(changed_there.forcings, changed_there.failures)
    return changed_there


def _changed(plan: Plan, changes: Changes) -> Plan:
    """Return a plan with the changed weather, of the basins in which that of every part can be changed."""
    parts, failures = [], dict(plan.failures)
    for one in plan.parts:
        taken = one.loaded.config.inputs
        outcomes = {name: changed(name, weather, taken, changes) for name, weather in one.weather.items()}
        parts.append(replace(one, weather={name: of for name, of in outcomes.items() if isinstance(of, WeatherAhead)}))
        failures = {name: of for name, of in outcomes.items() if isinstance(of, Absent)} | failures
    whole = replace(plan, parts=tuple(parts), failures=failures, changes=changes)
    return whole.only([name for name in plan.forcings if name not in failures])


def _computed(work: Work, plan: Plan, forecast: ForecastParams) -> Results:
    """Return the result of a changed run by basin.

    Raises:
        NothingToForecast: the water can be changed in none of the basins.
    """
    results = results_of(work, plan, forecast, store_states=False)
    failures = {result.basin.basin_id: result.basin.why_missing for result in results if _failed(result)}
    require([result for result in results if not _failed(result)], failures)
    return results


def _failed(result: run_types.BasinResult) -> bool:
    return result.basin.status == "failed"


def _base(
    work: Work,
    params: WhatIfParams,
    plan: Plan,
    results: Results,
    *,
    asked: RunWhatIf,
    owner: str | None,
) -> str | None:
    """Return the unchanged run to compare with, computed where there is none.

    None where nothing is changed and there is none."""
    issued = [result.basin for result in results if result.basin.status == "issued"]
    with work.database.reading() as session:
        for run in runs.unchanged(
            session, plan.inputs.loaded.version.id, plan.days.t0, plan.days.horizon, params.weather
        ):
            earlier = {basin.basin_id: basin for basin in runs.basins_of(session, run.id)}
            if _id(run.weather) == _id(plan.forecast) and all(
                _same(plan, run, earlier.get(basin.basin_id), basin) for basin in issued
            ):
                return run.id
    if params.changes.nothing:
        return None
    of_base = results_of(work, plan, params.forecast, store_states=False)
    shown, named = replace(asked, changes={}), params.t0 is not None
    new = new_run(plan, work.clock, params.weather, "what-if", what_if=shown, owner=owner, t0_named=named)
    with work.database.reading() as session:
        prepared = prepare(session, new, of_base)
    with work.database.transaction() as session:
        return store_run(session, new, of_base, prepared).id


def _id(weather: RunWeather | None) -> str | None:
    return None if weather is None else weather.id


def _same(plan: Plan, run: run_types.Run, earlier: run_types.RunBasin | None, basin: run_types.RunBasin) -> bool:
    """Return whether an earlier run's result of a basin follows from the state and inputs of a plan."""
    if earlier is None or earlier.status != "issued" or earlier.pruned is not None:
        return False
    if earlier.state_hash != basin.state_hash:
        return False
    consumed = {share.version: share.inputs_hash for share in run_types.shares_of(run, earlier)}
    parents = {share.version: share.parent_day for share in run_types.shares_of(run, earlier)}
    parts = plan.parts_in(basin.basin_id)
    return consumed == {
        one.part.version: _consumed(plan, one, basin.basin_id, parents.get(one.part.version)) for one in parts
    }


def _consumed(plan: Plan, one: PartPlan, name: str, parent: str | None) -> str:
    """Return the hash of what a part of a plan consumes in a basin from the day after a parent state on."""
    forcing = one.forcings[name]
    return inputs_hash(
        forcing=forcing,
        weather=one.weather[name],
        bridges=[bridge.used for bridge in one.bridges[name]],
        days=plan.days,
        first=forcing.period.first if parent is None else np.datetime64(parent, "D") + ONE_DAY,
        changes=plan.changes,
    )
