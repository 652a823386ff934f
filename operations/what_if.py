"""What-if runs: a forecast with other weather after T0, or with more or less water in the basin at T0.

Each is stored with its changes, beside the unchanged run to compare it with. They are separate from forecasts: they
become no latest forecast, decide no alerts, are not verified, and store no states.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.products import IN_DEGREES, WEATHER
from hydrology.base.reasons import Reason
from hydrology.weather.climate import saturation_vapour_pressure
from jobspec.changes import Changes
from jobspec.jobs.forecasting import WhatIfParams
from jobspec.training import InputsConfig
from models.forcing import Array
from operations.forecasting.forecast import basins_by_version, new_run, plans_of, store_all
from operations.forecasting.plans import Plan, require
from operations.forecasting.results import results_of
from operations.forecasting.summary import inputs_hash
from operations.forecasting.weather_ahead import WeatherAhead
from records.database.work import Work
from records.runs import run_types, runs
from records.runs.run_weather import RunWhatIf
from records.runs.runs import RunRequest

log = structlog.get_logger()

VAPOUR = "vp"


def changed(basin: str, weather: WeatherAhead, inputs: InputsConfig, changes: Changes) -> WeatherAhead | Absent:
    """Apply changes to a basin's weather, or return why they cannot be applied.

    Precipitation is changed by its percentage, then the storm is added. Degrees are added to the temperatures that the
    network takes; vapour pressure changes with the saturation pressure at the day's mean temperature. All else is
    unchanged.
    """
    forcing = weather.forcing
    values = dict(zip(inputs.auxiliary, np.moveaxis(forcing.auxiliary, -1, 0), strict=True))
    if changes.degrees != 0 and not any(name in values for name in IN_DEGREES):
        return absent(Reason.NO_TEMPERATURE_TO_CHANGE, basin=basin)
    warmer = _warmer(values, changes.degrees) if changes.degrees != 0 else {}
    wetter = forcing.mass.copy()
    if changes.precipitation_percent != 0:
        wetter = (wetter * np.float64(1 + changes.precipitation_percent / 100)).astype(np.float32)
    if changes.storm is not None:
        wetter[:, changes.storm.lead - 1] += np.float32(changes.storm.mm)
    if (reason := _why_impossible(basin, forcing.period, {inputs.mass: wetter, **warmer})) is not None:
        return reason
    auxiliary = np.stack([*{**values, **warmer}.values()], axis=-1) if warmer else forcing.auxiliary
    return replace(weather, forcing=replace(forcing, mass=wetter, auxiliary=auxiliary))


def _warmer(values: Mapping[str, Array], degrees: float) -> dict[str, Array]:
    temperatures = {name: values[name] for name in IN_DEGREES if name in values}
    warmer = {name: of_days + np.float32(degrees) for name, of_days in temperatures.items()}
    if VAPOUR in values:
        mean = temperatures.get("tmean", np.mean([*temperatures.values()], axis=0, dtype=np.float64))
        ratio = saturation_vapour_pressure(mean + degrees) / saturation_vapour_pressure(mean)
        warmer[VAPOUR] = (values[VAPOUR] * ratio).astype(np.float32)
    return warmer


def _why_impossible(basin: str, days: Period, values: dict[str, Array]) -> Absent | None:
    """Name the first value outside its possible range (`hydrology.base.products.WEATHER`); None without any."""
    for name, of_traces in values.items():
        if name not in WEATHER:
            continue
        quantity = WEATHER[name]
        outside = (of_traces < quantity.lowest) | (of_traces > quantity.highest)
        if outside.any():
            trace, day = np.argwhere(outside)[0]
            return absent(
                Reason.WEATHER_IMPOSSIBLE,
                basin=basin,
                variable=name,
                day=str(days.days[day]),
                value=float(of_traces[trace, day]),
                unit=quantity.unit,
                lowest=quantity.lowest,
                highest=quantity.highest,
            )
    return None


Results = list[run_types.BasinResult]


def what_if(work: Work, request: RunRequest[WhatIfParams], by: str | None = None) -> list[run_types.Run]:
    """Compute a changed run for each version that the basins use, and for each weather forecast.

    It is compared with an unchanged run of the same version, T0, horizon and weather, which is computed too where no
    stored run has the same inputs. Where the changes can be applied in no basin, nothing is stored.
    """
    params, request = request.params, replace(request, purpose="what-if")
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        if earlier := request.earlier_runs(session):
            return earlier
    planned = plans_of(work, groups, params.forecast)
    changed_plans = [changed_plan(plan, params.changes) for plan in planned]
    results = [_computed(work, plan) for plan in changed_plans]
    asked = RunWhatIf(changes=params.changes.as_json(), note=params.note, by=by)
    bases = [_base(work, request, plan, of_plan, asked) for plan, of_plan in zip(planned, results, strict=True)]
    of_plans = zip(changed_plans, bases, strict=True)
    new = [new_run(work, plan, request, what_if=replace(asked, base=base)) for plan, base in of_plans]
    created = store_all(work, request, [*zip(new, results, strict=True)])
    for run in created:
        log.info("whatif.run", run=run.id, version=run.version_id, t0=str(run.t0), status=run.status)
    return created


def changed_plan(plan: Plan, changes: Changes) -> Plan:
    """Return a plan with the changed weather, without the basins in which it cannot be changed."""
    if changes.nothing:
        return plan
    parts, failures = [], dict(plan.failures)
    for one in plan.parts:
        taken = one.loaded.config.inputs
        outcomes = {name: changed(name, weather, taken, changes) for name, weather in one.weather.items()}
        parts.append(replace(one, weather={name: of for name, of in outcomes.items() if isinstance(of, WeatherAhead)}))
        failures = {name: of for name, of in outcomes.items() if isinstance(of, Absent)} | failures
    whole = replace(plan, parts=tuple(parts), failures=failures, changes=changes)
    changed_there = whole.only([name for name in plan.forcings if name not in failures])
    require(changed_there.forcings, failures)
    return changed_there


def _computed(work: Work, plan: Plan) -> Results:
    """Return the result of a changed run by basin; raises where the water can be changed in none of them."""
    results = results_of(work, plan, store_states=False)
    rows = [result.basin for result in results]
    failures = {row.basin_id: row.why_missing for row in rows if row.status == "failed"}
    require([row for row in rows if row.basin_id not in failures], failures)
    return results


def _base(work: Work, request: RunRequest[WhatIfParams], plan: Plan, results: Results, asked: RunWhatIf) -> str | None:
    """Return the unchanged run to compare with, computed where there is none.

    None where nothing is changed and there is none.
    """
    params = request.params
    issued = [result.basin for result in results if result.basin.status == "issued"]
    with work.database.reading() as session:
        for run in runs.unchanged(
            session, plan.inputs.loaded.version.id, plan.days.t0, plan.days.horizon, params.weather
        ):
            earlier = {basin.basin_id: basin for basin in runs.basins_of(session, run.id)}
            if (run.weather and run.weather.id) == (plan.forecast and plan.forecast.id) and all(
                _same(plan, run, earlier.get(basin.basin_id), basin) for basin in issued
            ):
                return run.id
    if params.changes.nothing:
        return None
    of_base, alone = results_of(work, plan, store_states=False), replace(request, key=None)
    new = new_run(work, plan, alone, what_if=replace(asked, changes={}))
    (base,) = store_all(work, alone, [(new, of_base)])
    return base.id


def _same(plan: Plan, run: run_types.Run, earlier: run_types.RunBasin | None, basin: run_types.RunBasin) -> bool:
    if earlier is None or earlier.status != "issued" or earlier.pruned is not None:
        return False
    if earlier.state_hash != basin.state_hash:
        return False
    name, shares = basin.basin_id, {share.version: share for share in run_types.shares_of(run, earlier)}
    parts = {one.part.version: one for one in plan.parts_in(name)}
    if shares.keys() != parts.keys():
        return False
    for version, one in parts.items():
        parent, bridges = shares[version].parent_day, [of.used for of in one.bridges[name]]
        day = None if parent is None else np.datetime64(parent, "D")
        if inputs_hash(plan, one.forcings[name], one.weather[name], bridges, day) != shares[version].inputs_hash:
            return False
    return True
