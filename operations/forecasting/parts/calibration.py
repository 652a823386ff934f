"""The calibration of a run's basins, by the error model of the version, or of a part of it.

It follows from the states of T0 and the weather alone, so that it stands before the simulation of the days ahead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import mean_by_shares
from hydrology.weather.forcing_kinds import KINDS, ForcingKind
from operations.forecasting.basin.inputs import StartedPart
from operations.forecasting.calibrated_flow import Calibration, calibrations
from operations.forecasting.parts.combine import of_largest_weight, recent_flow
from operations.forecasting.plan.types import PartPlan, Plan
from operations.forecasting.simulate import Discharge
from operations.forecasting.ungauged_errors import add_ungauged
from operations.forecasting.weather_errors import flow_with_errors
from operations.forecasting.weather_skill import complete_years
from records.database.engine import Database
from records.runs.run_weather import RunWeather
from records.versions.versions import Version

OfBasins = Mapping[str, Sequence[StartedPart]]
"""The parts that take part, by basin."""


def calibrate_basins(
    database: Database, plan: Plan, kind: ForcingKind, basins: OfBasins
) -> dict[str, Calibration | Absent]:
    """Return the calibration of each basin.

    Where parts are missing, the flow has the errors of the part with the largest weight alone: they are larger.

    Args:
        kind: of the weather after T0.
    """
    version = plan.inputs.loaded.version
    whole = {name: parts for name, parts in basins.items() if len(parts) == len(version.parts)}
    found = _by_model_of(database, plan, kind, version, whole)
    for one in plan.parts:
        leading = {
            name: parts
            for name, parts in basins.items()
            if of_largest_weight(parts).part.version == one.part.version
            and not isinstance(found.get(name), Calibration)
        }
        add_ungauged(database, one.loaded, {name: one.forcings[name] for name in leading})
        own = _by_model_of(database, plan, kind, one.loaded.version, leading)
        found |= {name: of for name, of in own.items() if name not in found or isinstance(of, Calibration)}
    calibrated = {name: of for name, of in found.items() if isinstance(of, Calibration)}
    around = _around(plan, {name: basins[name] for name in calibrated})
    return found | {name: replace(of, around=around.get(name)) for name, of in calibrated.items()}


def _by_model_of(
    database: Database, plan: Plan, kind: ForcingKind, version: Version, basins: OfBasins
) -> dict[str, Calibration | Absent]:
    """Return the calibration of each basin by a version's error model, or why it has none."""
    uncalibrated = KINDS[kind].uncalibrated or (None if plan.changes.nothing else Reason.HYPOTHETICAL_WEATHER)
    if uncalibrated is not None:
        return dict.fromkeys(basins, absent(uncalibrated))
    flows = {name: recent_flow(parts) for name, parts in basins.items()}
    with database.reading() as session:
        return calibrations(session, version, plan.forecast, plan.days, flows, plan.inputs.basins)


def _around(plan: Plan, basins: OfBasins) -> dict[str, Discharge]:
    """Return the flow with the traces around each basin's weather forecast: the weighted mean of its parts'."""
    if plan.forecast is None:
        return {}
    of_parts: dict[str, list[tuple[float, Discharge]]] = {name: [] for name in basins}
    shared = _shared_years(plan, basins)
    for one in plan.parts:
        own = {
            name: of_part
            for name, parts in basins.items()
            for of_part in parts
            if of_part.part.version == one.part.version
        }
        states = {name: of_part.at_t0.archived for name, of_part in own.items()}
        forecast = _with_skill_of(one, plan.forecast)
        flows = flow_with_errors(one.loaded, forecast, one.days, one.forcings, one.weather, states, among=shared)
        for name, flow in flows.items():
            of_parts[name].append((own[name].part.weight, flow))
    result = {}
    for name, weighted in of_parts.items():
        if weighted and len(weighted) == len(basins[name]):
            count = min(len(flow) for _, flow in weighted)
            result[name] = mean_by_shares([flow[:count] for _, flow in weighted], [weight for weight, _ in weighted])
    return result


def _shared_years(plan: Plan, basins: OfBasins) -> dict[str, frozenset[date]]:
    """Return the other years that all parts know in each basin, so that a trace is the same year in all of them."""
    shared: dict[str, frozenset[date]] = {}
    for one in plan.parts:
        for name in one.forcings.keys() & basins.keys():
            known = complete_years(one.forcings[name].forcing, one.days.ahead, one.days.t0)
            shared[name] = shared.get(name, known) & known
    return shared


def _with_skill_of(one: PartPlan, whole: RunWeather) -> RunWeather:
    """Return the weather forecast with the skill that the run stores, if that knows all variables of the part."""
    taken = one.loaded.config.inputs
    return whole if {taken.mass, *taken.auxiliary} <= {*whole.skill.correlations} else one.forecast or whole
