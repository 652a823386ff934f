"""Forecasts basins with a part of a version: states and inputs of T0, simulation, arrays, ledgers, summary."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import SnowEstimate
from jobspec.changes import Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.basin.arrays import arrays_of
from operations.forecasting.basin.inputs import BasinInputs, SimulatedBasin, SimulatedPart, StartedPart, water_at_t0
from operations.forecasting.basin.ledger import verdict
from operations.forecasting.basin.summary import run_basin
from operations.forecasting.days import RunDays
from operations.forecasting.normals import observed_normals, reference_snow, snow17_at, snow_normals
from operations.forecasting.plan.types import PartPlan
from operations.forecasting.replayed_past import cells_by_age, from_perturbed_states
from operations.forecasting.simulate import InitialState, discharge_by_age, flows, peaks_by_rain
from operations.states.advance_states import advance
from operations.states.changed_states import assimilated_states
from operations.versions.load_networks import LoadedVersion
from records.database.stored import as_values
from records.database.work import Work
from records.feeds import feeds
from records.runs import run_types
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart


def prepare_basins(
    work: Work,
    plan: PartPlan,
    params: ForecastParams,
    *,
    changes: Changes,
    store_states: bool,
    since: Mapping[str, State | None] | None,
) -> dict[str, BasinInputs]:
    """Advance a part's basins to T0, and return their inputs; `store_states` and `since` as in `advance`."""
    inputs, loaded, t0 = plan.inputs, plan.inputs.loaded, plan.days.t0
    advanced = advance(work, loaded, plan.forcings, t0, store_states=store_states, since=since)
    states = {
        name: basin.state for name, basin in advanced.items() if basin.problem is None and basin.state is not None
    }
    of_states = {}
    if count := params.perturbed_states:
        of_states = from_perturbed_states(work.database, loaded, plan.forcings, plan.weather, states, count)
    with work.database.reading() as session:
        started = {name: inputs.basins[name] for name in states}
        normals = observed_normals(session, started, loaded.version.area_products, plan.days.ahead.days)
        assimilated = assimilated_states(session, loaded, plan.forcings, states) if changes.assimilate else {}
        snow = {name: inputs.snow[name] for name in states}
        faults = _weather_faults(session, plan)
        of_snow = snow_normals(session, loaded.version.id, snow, plan.days.t0)
        readable = [name for name, of in snow.items() if not isinstance(of, Absent)]
        references = reference_snow(session, readable, plan.days.t0)
    opinions = _second_opinions(plan, snow)
    by_age = cells_by_age(work.database, loaded, plan.forcings, states, t0) if params.age else {}
    no_state, no_age = absent(Reason.NO_STATE), absent(Reason.AGE_NOT_REQUESTED)
    return {
        name: BasinInputs(
            basin=inputs.basins[name],
            forcing=forcing,
            weather=plan.weather[name],
            advanced=advanced[name],
            snow=inputs.snow[name],
            snow_reference=references.get(name, no_state),
            snow17=opinions.get(name),
            credit=inputs.credit,
            normal=normals.get(name, no_state),
            snow_normal=of_snow.get(name, no_state),
            cells_by_age=by_age.get(name, no_age if name in states else no_state),
            bridges=tuple(bridge.used for bridge in plan.bridges[name]),
            of_states=of_states.get(name),
            changes=changes,
            assimilated=assimilated.get(name),
            weather_fault=faults.get(name),
        )
        for name, forcing in plan.forcings.items()
    }


def _weather_faults(session: Session, plan: PartPlan) -> Mapping[str, str]:
    """Return why a newer weather forecast of the plan's model was not taken, by basin."""
    used = plan.forecast
    return {} if used is None else feeds.failed_forecasts(session, used.source, used.model, used.available_time)


def _second_opinions(plan: PartPlan, snow: Mapping[str, SnowMapping | Absent]) -> Mapping[str, SnowEstimate | Absent]:
    regional = [name for name, of in snow.items() if not isinstance(of, Absent) and of.kind == "regional"]
    inputs = plan.inputs
    basins_there = {name: inputs.basins[name] for name in regional}
    return snow17_at(plan.days.t0, basins_there, plan.forcings, inputs.loaded.config.inputs)


def start_part(part: VersionPart, loaded: LoadedVersion, inputs: BasinInputs) -> StartedPart | run_types.BasinResult:
    """Return a part in a basin at T0, or why not: the ledger of a member does not close before T0."""
    basin = inputs.basin.id
    if inputs.advanced.problem is not None:
        return without_forecast(basin, "withheld", inputs.advanced.problem)
    at_t0 = water_at_t0(loaded, inputs)
    if isinstance(at_t0, Absent):
        return without_forecast(basin, "failed", at_t0)
    return StartedPart(part=part.in_basin(basin), loaded=loaded, inputs=inputs, at_t0=at_t0)


def simulate_part(
    loaded: LoadedVersion, basins: Sequence[StartedPart], days: RunDays, *, rain_response: bool
) -> Iterator[SimulatedPart]:
    """Run a part over the days after T0, and yield what it computes of each basin, in their order."""
    ahead = [_ahead(loaded, one) for one in basins]
    by_age = discharge_by_age(loaded, [start for start in ahead if start.cells_by_age is not None])
    peaks = peaks_by_rain(loaded, ahead, days.filled) if rain_response else [None] * len(ahead)
    for one, start, flow, of_rain in zip(basins, ahead, flows(loaded, ahead), peaks, strict=True):
        of_age = None if start.cells_by_age is None else next(by_age)
        yield SimulatedPart(**as_values(one), flow=flow, by_age=of_age, peaks_by_rain=of_rain)


def result_of(computed: SimulatedBasin) -> run_types.BasinResult:
    """Return a basin's result; withheld if its ledger does not close for every member and trace."""
    if not computed.flow.finite:
        return without_forecast(computed.inputs.basin.id, "failed", absent(Reason.NOT_FINITE))
    closed = verdict(computed)
    return run_types.BasinResult(
        basin=run_basin(computed, closed.reason), series=[*arrays_of(computed), *closed.series], ledgers=closed.ledgers
    )


def without_forecast(basin: str, status: run_types.BasinStatus, reason: Absent) -> run_types.BasinResult:
    return run_types.BasinResult(basin=run_types.RunBasin(basin_id=basin, status=status, reason=reason))


def _ahead(loaded: LoadedVersion, one: StartedPart) -> InitialState:
    inputs = one.inputs
    cells = None if isinstance(inputs.cells_by_age, Absent) else inputs.cells_by_age
    return InitialState(one.at_t0.state, inputs.weather, _readable_snow(loaded, inputs), cells)


def _readable_snow(loaded: LoadedVersion, start: BasinInputs) -> SnowMapping | None:
    return start.snow if loaded.ensemble.conserving and not isinstance(start.snow, Absent) else None
