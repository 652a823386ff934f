"""Brings basins to T0: their states, and everything that their forecasts start from."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.snow.against_normal import SnowEstimate
from jobspec.changes import Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.basin.inputs import BasinInputs
from operations.forecasting.normals import observed_normals, reference_snow, snow_normals
from operations.forecasting.plan.types import PartPlan
from operations.forecasting.snow17 import snow17_at
from operations.forecasting.variance_sources import from_perturbed_states
from operations.forecasting.water_age import cells_by_age
from operations.states.advance_states import advance
from operations.states.assimilate import assimilated_states
from records.database.work import Work
from records.feeds import feeds
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping


def prepare_basins(
    work: Work,
    plan: PartPlan,
    params: ForecastParams,
    *,
    changes: Changes,
    store_states: bool,
    since: Mapping[str, State | None] | None,
) -> dict[str, BasinInputs]:
    """Advance the states of the basins of a part to T0, and return the inputs of their forecasts.

    `store_states` and `since` are as in `advance`.

    Args:
        changes: those of a what-if run.
    """
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
    """Return the snow of T0 by Snow-17 where the mapping is regional."""
    regional = [name for name, of in snow.items() if not isinstance(of, Absent) and of.kind == "regional"]
    inputs = plan.inputs
    basins_there = {name: inputs.basins[name] for name in regional}
    return snow17_at(plan.days.t0, basins_there, plan.forcings, inputs.loaded.config.inputs)
