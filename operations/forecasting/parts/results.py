"""Forecasts basins with a combined version: each part by itself, then all together.

A part advances its own states, by the weather of its own product alone. So a part that was absent for some days catches
up when its product returns, and its states are the same as if it had never been absent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.products import JOINT
from hydrology.base.products import subsets as product_subsets
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import weighted_mean
from hydrology.verification.held_out_years import HELD_OUT
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.basin.forecast import computed_of, result_of, without_forecast
from operations.forecasting.basin.inputs import SimulatedBasin, SimulatedPart
from operations.forecasting.basin.starts import OnDays, calibrations_of, prepare_basins
from operations.forecasting.calibrated_flow import Calibration
from operations.forecasting.parts.combine import combine_parts, of_largest_weight
from operations.forecasting.plan.types import PartPlan, Plan
from operations.forecasting.simulate import Discharge
from operations.forecasting.ungauged_errors import add_ungauged
from operations.forecasting.weather_errors import flow_with_errors
from operations.forecasting.weather_skill import complete_years
from operations.versions.load_networks import LoadedVersion
from operations.versions.stages import with_progress
from records.database.engine import Database
from records.runs import runs
from records.runs.run_parts import RunSubset
from records.runs.run_request import RunWeather
from records.runs.states import State
from records.verification import scores
from records.versions.version_properties import VersionPart
from runtime.clock import Clock

Since = Mapping[str, Mapping[str, State | None]]
"""The state to start from in each basin, by version; None for the empty store."""


def combined_results(
    plan: Plan,
    params: ForecastParams,
    database: Database,
    clock: Clock,
    on_days: OnDays,
    *,
    store_states: bool,
    rain_response: bool,
    since: Since | None,
) -> list[runs.BasinResult]:
    """Return the result of each basin of the plan of a combined version.

    A basin has no forecast where a part that takes part fails, for instance because its ledger does not close.
    """
    computed: dict[str, list[SimulatedPart]] = {name: [] for name in plan.forcings}
    lost: dict[str, runs.BasinResult] = {}
    for one in plan.parts:
        of_part = _of_part(
            one, params, database, clock, on_days, store_states=store_states, rain_response=rain_response, since=since
        )
        for basin in of_part:
            if isinstance(basin, SimulatedBasin):
                computed[basin.inputs.basin.id].append(SimulatedPart(one.part.in_basin(basin.inputs.basin.id), basin))
            else:
                lost.setdefault(basin.basin.basin_id, basin)
    whole = {name: parts for name, parts in computed.items() if name not in lost}
    with database.reading() as session:
        subsets = _subsets(session, plan, whole)
    inputs = plan.inputs
    basins = {
        name: combine_parts(inputs.loaded, parts, subsets[name], inputs.snow[name]) for name, parts in whole.items()
    }
    usable = {name: one for name, one in basins.items() if not isinstance(one, Absent)}
    results = [
        *lost.values(),
        *(without_forecast(name, "failed", one) for name, one in basins.items() if isinstance(one, Absent)),
    ]
    return results + [
        result_of(one) for one in with_progress("forecasts", _calibrated(database, plan, params, usable), len(usable))
    ]


def _of_part(
    one: PartPlan,
    params: ForecastParams,
    database: Database,
    clock: Clock,
    on_days: OnDays,
    *,
    store_states: bool,
    rain_response: bool,
    since: Since | None,
) -> list[SimulatedBasin | runs.BasinResult]:
    loaded = one.plan.inputs.loaded
    of_part = None if since is None else since[loaded.version.id]
    starts = prepare_basins(
        one.plan, params, database, clock, on_days, store_states=store_states, since=of_part, calibrate=False
    )
    return [*computed_of(loaded, starts, one.plan.days, rain_response=rain_response)]


def _subsets(
    session: Session, plan: Plan, computed: Mapping[str, Sequence[SimulatedPart]]
) -> dict[str, RunSubset | None]:
    """Return what is missing in each basin of the plan, with the skill expected of the products that are not."""
    version = plan.inputs.loaded.version
    without = [name for name, parts in computed.items() if len(parts) < len(version.parts)]
    members = [*map(JOINT.join, product_subsets(version.products)), "mean"]
    found = scores.scores(
        session, versions=version.evaluated_as, basins=without, metrics=["nse"], members=members, uses=[HELD_OUT]
    )
    nse: dict[tuple[str, ...], float | None] = {
        (one.basin_id, one.member, str(one.first_day), str(one.last_day)): one.value for one in found
    }
    periods = {name: max((key[2:] for key in nse if key[0] == name), default=None) for name in without}
    subsets: dict[str, RunSubset | None] = dict.fromkeys(computed)
    for name in without:
        days, reasons = periods[name], plan.absent_parts.get(name, {})
        missing = {part.name: reasons[part.name] for part in version.parts if part.name in reasons}
        products, in_part = products_there(version.parts, [one.part for one in computed[name]])
        subsets[name] = RunSubset(
            products=products,
            missing=missing,
            nse=None if days is None else nse.get((name, JOINT.join(products), *days)),
            nse_of_all=nse.get((name, "mean", *days))
            if days and _all_judged(nse, name, version.products, days)
            else None,
            period=None if days is None else "..".join(days),
            without_nse=absent(Reason.NOT_SCORED_WITHOUT_PART, products=" and ".join(in_part)) if in_part else None,
        )
    return subsets


def products_there(
    parts: Sequence[VersionPart], there: Sequence[VersionPart]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the products of the parts that took part, and those of them that other parts lack.

    Of the latter, the names of the parts stand in place of the product.
    """
    names = {part.name for part in there}
    lacking = {part.product for part in parts if part.name not in names}
    in_part = dict.fromkeys(part.product for part in there if part.product in lacking)
    return tuple(dict.fromkeys(part.name if part.product in in_part else part.product for part in there)), (*in_part,)


def _shared_years(plan: Plan, computed: Mapping[str, SimulatedBasin]) -> dict[str, frozenset[date]]:
    """Return the other years that all parts know in each basin, so that a trace is the same year in all of them."""
    shared: dict[str, frozenset[date]] = {}
    for one in plan.parts:
        for name in one.plan.forcings.keys() & computed.keys():
            known = complete_years(one.plan.forcings[name].forcing, one.plan.days.ahead, one.plan.days.t0)
            shared[name] = shared.get(name, known) & known
    return shared


def _all_judged(
    nse: Mapping[tuple[str, ...], float | None], basin: str, products: Sequence[str], days: Sequence[str]
) -> bool:
    """Return whether an evaluation had all products of the version in a basin."""
    return all((basin, JOINT.join(chosen), *days) in nse for chosen in product_subsets(products))


def _calibrated(
    database: Database, plan: Plan, params: ForecastParams, computed: Mapping[str, SimulatedBasin]
) -> list[SimulatedBasin]:
    """Return what was computed of each basin, with its calibration.

    Where parts are missing, the flow has the errors of the part with the largest weight alone: they are larger.
    """
    whole = {name: one for name, one in computed.items() if one.subset is None}
    with database.reading() as session:
        states = {name: one.at_t0.archived for name, one in whole.items()}
        found = dict(calibrations_of(session, plan, params.weather, states))
    for one in plan.parts:
        leading = {
            name: of_basin
            for name, of_basin in computed.items()
            if of_largest_weight(of_basin.parts).part.version == one.part.version
            and not isinstance(found.get(name), Calibration)
        }
        add_ungauged(database, one.plan.inputs.loaded, {name: one.plan.forcings[name] for name in leading})
        with database.reading() as session:
            states = {name: of_basin.at_t0.archived for name, of_basin in leading.items()}
            own = calibrations_of(session, replace(one.plan, forecast=plan.forecast), params.weather, states)
        found |= {
            name: of_name for name, of_name in own.items() if name not in found or isinstance(of_name, Calibration)
        }
    around = _around(plan, {name: one for name, one in computed.items() if isinstance(found[name], Calibration)})
    return [
        replace(one, inputs=replace(one.inputs, calibration=found[name], around=around.get(name)))
        for name, one in computed.items()
    ]


def _with_skill_of(loaded: LoadedVersion, of_part: Plan, whole: RunWeather) -> RunWeather:
    """Return the weather forecast with the skill that the run stores, if that knows all variables of the part."""
    taken = loaded.config.inputs
    return whole if {taken.mass, *taken.auxiliary} <= {*whole.skill.correlations} else of_part.forecast or whole


def _around(plan: Plan, computed: Mapping[str, SimulatedBasin]) -> dict[str, Discharge]:
    """Return the flow with the traces around each basin's weather forecast: the weighted mean of its parts'."""
    if plan.forecast is None:
        return {}
    of_parts: dict[str, list[tuple[float, Discharge]]] = {name: [] for name in computed}
    shared = _shared_years(plan, computed)
    for one in plan.parts:
        own = {
            name: of_part.computed.at_t0.archived
            for name, of_basin in computed.items()
            for of_part in of_basin.parts
            if of_part.part.version == one.part.version
        }
        loaded, days = one.plan.inputs.loaded, one.plan.days
        forecast = _with_skill_of(loaded, one.plan, plan.forecast)
        flows_of_part = flow_with_errors(loaded, forecast, days, one.plan.forcings, one.plan.weather, own, among=shared)
        for name, flow in flows_of_part.items():
            of_parts[name].append((one.part.in_basin(name).weight, flow))
    result = {}
    for name, flows in of_parts.items():
        if flows and len(flows) == len(computed[name].parts):
            weights = np.array([weight for weight, _ in flows])
            count = min(len(flow) for _, flow in flows)
            result[name] = weighted_mean(np.stack([flow[:count] for _, flow in flows]), weights / weights.sum())
    return result
