"""Forecasts basins with a version: states and inputs of T0, each part by itself, then all together.

A part advances its own states, by the weather of its own product alone. So a part that was absent for some days catches
up when its product returns, and its states are the same as if it had never been absent.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, known
from hydrology.base.arrays import Array
from hydrology.base.products import JOINT
from hydrology.base.products import subsets as product_subsets
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import SnowEstimate
from hydrology.verification.held_out_years import HELD_OUT
from operations.forecasting.basin_arrays import arrays_of, verdict
from operations.forecasting.calibration import OfBasins, calibrate_basins
from operations.forecasting.normals import observed_normals, reference_snow, snow17_at, snow_normals
from operations.forecasting.plans import PartPlan, Plan
from operations.forecasting.replayed_past import cells_by_age, from_perturbed_states
from operations.forecasting.simulate import InitialState, discharge_by_age, flows, peaks_by_rain
from operations.forecasting.simulated_basin import (
    BasinReferences,
    SimulatedBasin,
    SimulatedPart,
    StartedPart,
    combine_parts,
    of_largest_weight,
    water_at_t0,
)
from operations.forecasting.summary import run_basin
from operations.forecasting.weather_ahead import RunDays
from operations.states.advance_states import advance
from operations.states.changed_states import assimilated_states
from operations.versions.load_networks import LoadedVersion
from records.database.stored import as_values, grouped
from records.database.work import Work
from records.feeds import feeds
from records.runs import run_types
from records.runs.run_weather import RunSubset
from records.runs.tables import State
from records.verification import scores
from records.versions.version_properties import VersionPart


def start_part(
    work: Work, whole: Plan, plan: PartPlan, *, store_states: bool, since: Mapping[str, State | None] | None
) -> dict[str, StartedPart | run_types.BasinResult]:
    """Advance a part's basins to T0, and return what it starts from in each, or why not; arguments as in `advance`.

    A basin whose ledger does not close for every member before T0 is withheld.
    """
    loaded, t0 = plan.loaded, plan.days.t0
    advanced = advance(work, loaded, plan.forcings, t0, store_states=store_states, since=since)
    started: dict[str, StartedPart | run_types.BasinResult] = {
        name: without_forecast(name, "withheld", one.problem)
        for name, one in advanced.items()
        if one.problem is not None
    }
    states = {name: one.state for name, one in advanced.items() if one.problem is None and one.state is not None}
    of_states = {}
    if count := whole.params.perturbed_states:
        of_states = from_perturbed_states(work.database, plan, states, count)
    snow = {name: plan.snow[name] for name in states}
    with work.database.reading() as session:
        assimilated = assimilated_states(session, loaded, plan.forcings, states) if whole.changes.assimilate else {}
        faults: Mapping[str, str] = {}  # why a newer weather forecast of the plan's model was not taken
        if (used := plan.forecast) is not None:
            faults = feeds.failed_forecasts(session, states, used.source, used.model, used.available_time)
        of_snow = snow_normals(session, loaded.version.id, snow, t0)
    by_age = cells_by_age(work.database, plan, states) if whole.params.age else {}
    for name, state in states.items():
        at_t0 = water_at_t0(loaded, state, assimilated.get(name), snow[name], whole.changes.increment)
        if isinstance(at_t0, Absent):
            started[name] = without_forecast(name, "failed", at_t0)
            continue
        started[name] = StartedPart(
            part=plan.part.in_basin(name),
            loaded=loaded,
            basin=plan.basins[name],
            forcing=plan.forcings[name],
            weather=plan.weather[name],
            parent=advanced[name].parent,
            at_t0=at_t0,
            snow=snow[name],
            credit=plan.credit,
            snow_normal=of_snow[name],
            cells_by_age=by_age.get(name, absent(Reason.AGE_NOT_REQUESTED)),
            bridges=[bridge.used for bridge in plan.bridges[name]],
            of_states=of_states.get(name),
            weather_fault=faults.get(name),
        )
    return started


def simulate_part(
    loaded: LoadedVersion, basins: Sequence[StartedPart], days: RunDays, *, rain_response: bool
) -> Iterator[SimulatedPart]:
    """Run a part over the days after T0, and yield what it computes of each basin, in their order."""
    ahead = [
        InitialState(
            one.at_t0.state,
            one.weather,
            known(one.snow) if loaded.ensemble.conserving else None,
            known(one.cells_by_age),
        )
        for one in basins
    ]
    by_age = discharge_by_age(loaded, [start for start in ahead if start.cells_by_age is not None])
    peaks = peaks_by_rain(loaded, ahead, days.filled) if rain_response else [None] * len(ahead)
    for one, start, flow, of_rain in zip(basins, ahead, flows(loaded, ahead), peaks, strict=True):
        of_age = None if start.cells_by_age is None else next(by_age)
        yield SimulatedPart(**as_values(one), flow=flow, by_age=of_age, peaks_by_rain=of_rain)


def result_of(computed: SimulatedBasin) -> run_types.BasinResult:
    """Return a basin's result; withheld if its ledger does not close for every member and trace."""
    if not computed.flow.finite:
        return without_forecast(computed.first.basin.id, "failed", absent(Reason.NOT_FINITE))
    closed = verdict(computed)
    return run_types.BasinResult(
        basin=run_basin(computed, closed.reason), series=[*arrays_of(computed), *closed.series], ledgers=closed.ledgers
    )


def without_forecast(basin: str, status: run_types.BasinStatus, reason: Absent) -> run_types.BasinResult:
    return run_types.BasinResult(basin=run_types.RunBasin(basin_id=basin, status=status, reason=reason))


Since = Mapping[str, Mapping[str, State | None]]
"""The state to start from in each basin, by version; None for the empty store."""


def results_of(
    work: Work, plan: Plan, *, store_states: bool = True, rain_response: bool = False, since: Since | None = None
) -> list[run_types.BasinResult]:
    """Advance the states to T0 and simulate the days ahead. Return each basin's result, in their order.

    A basin has no forecast where a part that takes part fails, for instance because its ledger does not close. States
    and `since` (by the versions of the parts) are as in `advance`.
    """
    started: dict[str, list[StartedPart]] = {name: [] for name in plan.forcings}
    results = {name: without_forecast(name, "failed", reason) for name, reason in plan.failures.items()}
    for one in plan.parts:
        own = None if since is None else since[one.part.version]
        starts = start_part(work, plan, one, store_states=store_states, since=own)
        for name, start in starts.items():
            if isinstance(start, StartedPart):
                started[name].append(start)
            else:
                results.setdefault(name, start)
    whole = {name: parts for name, parts in started.items() if name not in results}
    for result in work.counted("forecasts", _results(work, plan, whole, rain_response=rain_response), len(whole)):
        results[result.basin.basin_id] = result
    return [results[name] for name in sorted(results)]


def _results(work: Work, plan: Plan, started: OfBasins, *, rain_response: bool) -> Iterator[run_types.BasinResult]:
    with work.database.reading() as session:
        subsets = _subsets(session, plan, started)
    references = _references(work, plan, started)
    calibrated = calibrate_basins(work, plan, started)
    for name, parts in zip(started, _simulated(plan, started, rain_response=rain_response), strict=True):
        basin = combine_parts(plan, parts, references[name], calibrated[name], subsets.get(name))
        yield without_forecast(name, "failed", basin) if isinstance(basin, Absent) else result_of(basin)


def _simulated(plan: Plan, started: OfBasins, *, rain_response: bool) -> Iterator[list[SimulatedPart]]:
    """Yield what the parts of each basin simulate. Of each part, only a group of basins is in memory at a time."""
    of_parts = {}
    for one in plan.parts:
        own = [start for parts in started.values() for start in parts if start.part.version == one.part.version]
        of_parts[one.part.version] = simulate_part(one.loaded, own, plan.days, rain_response=rain_response)
    for parts in started.values():
        yield [next(of_parts[start.part.version]) for start in parts]


def _references(work: Work, plan: Plan, started: OfBasins) -> dict[str, BasinReferences]:
    """Return what the flow and the snow of each basin are compared with.

    Normal flow has the area of the basin's first part. Snow-17 is a second opinion on regional cells of its part with
    the largest weight.
    """
    first = grouped((parts[0].part.version, (name, parts[0].basin)) for name, parts in started.items())
    largest = {name: of_largest_weight(parts) for name, parts in started.items()}
    regional = grouped(
        (one.part.version, (name, one.basin))
        for name, one in largest.items()
        if not isinstance(one.snow, Absent) and one.snow.kind == "regional"
    )
    readable = [name for name, parts in started.items() if not isinstance(parts[0].snow, Absent)]
    normals, snow17, t0 = dict[str, Array | Absent](), dict[str, SnowEstimate | Absent](), plan.days.t0
    with work.database.reading() as session:
        snow = reference_snow(session, readable, t0)
        for version, of_version in first.items():
            products = plan.by_version[version].loaded.version.area_products
            normals |= observed_normals(session, dict(of_version), products, plan.days.ahead.days)
    for version, of_version in regional.items():
        part = plan.by_version[version]
        snow17 |= snow17_at(t0, dict(of_version), part.forcings, part.loaded.config.inputs)
    no_state = absent(Reason.NO_STATE)
    return {name: BasinReferences(normals[name], snow.get(name, no_state), snow17.get(name)) for name in started}


def _subsets(session: Session, plan: Plan, started: OfBasins) -> dict[str, RunSubset]:
    """Return what is missing in each basin without some parts, with the skill expected of the products that are not."""
    version = plan.inputs.loaded.version
    without = [name for name, parts in started.items() if len(parts) < len(version.parts)]
    if not without:
        return {}
    members = [*map(JOINT.join, product_subsets(version.products)), "mean"]
    found = scores.scores(
        session, versions=version.evaluated_as, basins=without, metrics=["nse"], members=members, uses=[HELD_OUT]
    )
    scored: dict[str, dict[tuple[str, str], dict[str, float | None]]] = {name: {} for name in without}
    for one in found:
        of_days = scored[one.basin_id].setdefault((str(one.first_day), str(one.last_day)), {})
        of_days[one.member] = one.value
    subsets = {}
    for name in without:
        days, reasons = max(scored[name], default=None), plan.absent_parts.get(name, {})
        nse = {} if days is None else scored[name][days]
        products, in_part = products_there(version.parts, [one.part for one in started[name]])
        subsets[name] = RunSubset(
            products=products,
            missing={part.name: reasons[part.name] for part in version.parts if part.name in reasons},
            nse=nse.get(JOINT.join(products)),
            nse_of_all=nse.get("mean") if nse.keys() >= {*members} - {"mean"} else None,
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
