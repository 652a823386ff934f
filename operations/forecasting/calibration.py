"""The calibration of a run's basins, by the error model of the version, or of a part of it.

It follows from the states of T0 and the weather alone, so that it stands before the simulation of the days ahead. The
errors of a weather forecast add to those of the network: the flow is simulated with weather around it, too. Basins
without observations get regional parameters, scaled by simulated flow."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import structlog

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, day, days_between
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import mean_by_shares
from hydrology.weather.forcing_kinds import KINDS
from hydrology.weather.forecast_errors import around
from models.ensemble import GROUP
from models.forcing import Forcing
from operations.basin_data.dataset import BasinForcing, stacked
from operations.forecasting.calibrated_flow import MIN_DAYS, Calibration, calibrations, error_model_of
from operations.forecasting.plans import PartPlan, Plan
from operations.forecasting.simulate import Discharge, InitialState, mean_discharge
from operations.forecasting.simulated_basin import StartedPart, of_largest_weight, recent_flow
from operations.forecasting.weather_ahead import WeatherAhead, with_traces
from operations.forecasting.weather_skill import complete_years, other_weather, weather_of
from operations.versions.load_networks import LoadedVersion
from records.database.stored import grouped
from records.database.work import Work
from records.runs.run_weather import FilledWeather, RunWeather
from records.runs.tables import State
from records.versions import error_models
from records.versions.versions import Version

log = structlog.get_logger()


def _flow_with_errors(
    plan: PartPlan, forecast: RunWeather, states: Mapping[str, State], among: Mapping[str, Collection[date]]
) -> dict[str, Discharge]:
    """Return the members' mean discharge around a part's weather forecasts, (traces, days) in mm/day.

    Basins whose forecast has traces far enough apart are left out, and those without other years. `among` has the first
    days of the other years to take.
    """
    taken, days, starts = plan.loaded.config.inputs, plan.days, {}
    names = (taken.mass, *taken.auxiliary)
    later = days_between(day(forecast.reference_time.date()), days.ahead.first)
    of_reference = np.array([forecast.skill.correlations[name] for name in names]).T
    correlation = of_reference[np.clip(later + np.arange(days.horizon), 0, len(of_reference) - 1)]
    for name, state in states.items():
        weather, forcing = plan.weather[name], plan.forcings[name].forcing
        expected = with_skill(correlation, weather.filled, days.ahead.first, names)
        other = other_weather(forcing, days.ahead, days.t0, among[name])
        # A trace is one weather, so its ranks among equal values are drawn alike in every basin.
        chance = np.random.default_rng(int(days.t0.astype(int)))
        traces = None if other is None else around(weather_of(weather.forcing), other, expected, chance)
        if traces is not None:
            starts[name] = InitialState(state, _weather_around(forcing, traces, days.ahead.first, names), None)
    return dict(zip(starts, mean_discharge(plan.loaded, [*starts.values()]), strict=True))


def _weather_around(forcing: Forcing, traces: Array, first: Day, names: Sequence[str]) -> WeatherAhead:
    if {"tmax", "tmin"} <= set(names):
        warm, cold = names.index("tmax"), names.index("tmin")
        traces[..., [cold, warm]] = np.sort(traces[..., [cold, warm]], axis=-1)
    values = traces.astype(np.float32)
    labels = tuple(str(number) for number in range(len(values)))
    return with_traces(labels, forcing, first, values[..., 0], values[..., 1:])


def with_skill(correlation: Array, filled: Sequence[FilledWeather], first: Day, names: Sequence[str]) -> Array:
    """Return the correlation of weather with that which comes, (days, variables), with that of filled days."""
    expected = np.array(correlation)
    for label in filled:
        for name, values in label.correlations.items():
            expected[label.days_from(first), names.index(name)] = values
    return expected


def add_ungauged(work: Work, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing]) -> None:
    """Store regional error models for the version's basins that its error model lacks."""
    long = [name for name, forcing in forcings.items() if len(forcing.period) >= MIN_DAYS]
    with work.database.reading() as session:
        model = error_model_of(session, loaded.version, [])
        if isinstance(model, Absent):
            return
        unmet = {name: forcings[name] for name in error_models.unmet(session, model.version_id, long)}
    groups = [
        names[first : first + GROUP]
        for _, names in sorted(grouped((str(forcing.period), name) for name, forcing in unmet.items()).items())
        for first in range(0, len(names), GROUP)
    ]
    for names in work.counted("error models, groups of basins", groups, len(groups)):
        forcing = stacked([unmet[name].forcing for name in names])
        outputs, _ = loaded.ensemble.simulate(forcing, None, ("discharge",))
        flows = zip(names, outputs["discharge"].mean(axis=0, dtype=np.float64), strict=True)
        errors = {name: model.regional.of_basin(flow[np.isfinite(flow)]) for name, flow in flows}
        with work.database.transaction() as session:
            error_models.add_basins(session, model, errors)
        log.info("calibrated.regional", version=model.version_id, basins=names)


OfBasins = Mapping[str, Sequence[StartedPart]]
"""The parts that take part, by basin."""


def calibrate_basins(work: Work, plan: Plan, basins: OfBasins) -> dict[str, Calibration | Absent]:
    """Return the calibration of each basin.

    Where parts are missing, the flow has the errors of the part with the largest weight alone: they are larger.
    """
    version = plan.inputs.loaded.version
    whole = {name: parts for name, parts in basins.items() if len(parts) == len(version.parts)}
    found = _by_model_of(work, plan, version, whole)
    for one in plan.parts:
        leading = {
            name: parts
            for name, parts in basins.items()
            if of_largest_weight(parts).part.version == one.part.version
            and not isinstance(found.get(name), Calibration)
        }
        add_ungauged(work, one.loaded, {name: one.forcings[name] for name in leading})
        own = _by_model_of(work, plan, one.loaded.version, leading)
        found |= {name: of for name, of in own.items() if name not in found or isinstance(of, Calibration)}
    calibrated = {name: of for name, of in found.items() if isinstance(of, Calibration)}
    around = _around(plan, {name: basins[name] for name in calibrated})
    return found | {name: replace(of, around=around.get(name)) for name, of in calibrated.items()}


def _by_model_of(work: Work, plan: Plan, version: Version, basins: OfBasins) -> dict[str, Calibration | Absent]:
    uncalibrated = KINDS[plan.params.weather].uncalibrated or (
        None if plan.changes.nothing else Reason.HYPOTHETICAL_WEATHER
    )
    if uncalibrated is not None:
        return dict.fromkeys(basins, absent(uncalibrated))
    flows = {name: recent_flow(parts) for name, parts in basins.items()}
    with work.database.reading() as session:
        return calibrations(session, plan, version, flows)


def _around(plan: Plan, basins: OfBasins) -> dict[str, Discharge]:
    """Return the flow with the traces around each basin's weather forecast: the weighted mean of its parts'."""
    if plan.forecast is None:
        return {}
    of_parts: dict[str, list[tuple[float, Discharge]]] = {name: [] for name in basins}
    shared = _shared_years(plan, basins)
    for one in plan.parts:
        own = {name: of for name, parts in basins.items() for of in parts if of.part.version == one.part.version}
        taken, whole = one.loaded.config.inputs, plan.forecast
        with_all = {taken.mass, *taken.auxiliary} <= {*whole.skill.correlations}
        states = {name: of_part.at_t0.archived for name, of_part in own.items()}
        flows = _flow_with_errors(one, whole if with_all else one.forecast or whole, states, shared)
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
