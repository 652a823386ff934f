"""Inputs and plans of the runs of one part of a version."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date
from hydrology.weather.forcing_kinds import KINDS
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.basins import last_ended
from operations.basin_data.dataset import BasinForcing, load_forcings
from operations.forecasting.days import RunDays, choose_days, why_t0_unavailable
from operations.forecasting.plan.types import PartInputs, PartPlan
from operations.forecasting.weather.choose import WeatherChoice, WeatherPlan
from operations.forecasting.weather.fill import Filling
from operations.states.advance_states import ONE_DAY
from operations.versions.load_networks import LoadedPart
from operations.versions.training_domain import attribute_means
from records.basins import basins
from records.database.work import Work
from records.feeds import product_credits
from records.simulations.snow_cells import mappings
from records.weather import bridges
from records.weather.bridges import InForce
from runtime.clock import Clock


def inputs_of_part(
    session: Session, one: LoadedPart, names: Sequence[str], known: Mapping[str, Day] | None
) -> PartInputs:
    """Read the inputs for the runs of a part.

    Args:
        known: the last known day of each basin's record; None: all stored days are known.
    """
    loaded, product = one.loaded, one.part.product
    loadings = load_forcings(session, names, loaded.config, attribute_means(loaded.version), known)
    return PartInputs(
        part=one.part,
        loaded=loaded,
        basins=basins.get_many(session, names),
        forcings={name: forcing for name, forcing in loadings.items() if isinstance(forcing, BasinForcing)},
        bridges=bridges.applied(session, product, names),
        snow=mappings(session, loaded.version.id, names),
        failures={name: reason for name, reason in loadings.items() if isinstance(reason, Absent)},
        credit=product_credits.by_product(session, [product]).get(product),
    )


def plans_of_part(
    work: Work,
    inputs: PartInputs,
    params: ForecastParams,
    known: datetime | None = None,
    filling: Filling | None = None,
) -> tuple[list[PartPlan], dict[str, Absent]]:
    """Return the plans of a part, as `operations.forecasting.forecast_plan.possible_plans` does of a version."""
    if not inputs.forcings:
        return [], dict(inputs.failures)
    ended = {name: last_ended(inputs.basins[name], work.clock.now()) for name in inputs.forcings}
    days = choose_days(work.clock, params.t0, params.horizon, last_t0(inputs, params), max(ended.values()))
    if filling is not None:
        days = RunDays(days.t0, days.horizon + filling.days, filling.days)
    product = inputs.part.product
    reasons = {
        name: why_t0_unavailable(name, forcing, product, days.t0, ended[name])
        for name, forcing in inputs.forcings.items()
    }
    started = {name: forcing for name, forcing in inputs.forcings.items() if reasons[name] is None}
    failures = {**inputs.failures, **{name: reason for name, reason in reasons.items() if reason is not None}}
    chosen = WeatherChoice(inputs.loaded, inputs.bridges, params, days, started=started, filling=filling, ended=ended)
    choices = chosen.choices(work.database, work.clock, known or instant_known(work.clock, params.t0))
    failures |= {name: reason for choice in choices for name, reason in choice.failures.items()}
    possible = [
        PartPlan(
            inputs=inputs,
            days=choice.days,
            forcings={name: started[name] for name in choice.weather},
            weather=choice.weather,
            bridges=_bridges(inputs, choice),
            forecast=choice.forecast,
        )
        for choice in choices
        if choice.weather
    ]
    return possible, failures


def last_t0(inputs: PartInputs, params: ForecastParams) -> Day:
    """Return the last T0 that the records allow. Observed weather must reach over the days ahead, too."""
    last = max(forcing.period.last for forcing in inputs.forcings.values())
    return last - np.timedelta64(params.horizon, "D") if KINDS[params.weather].of_record else last


def _bridges(inputs: PartInputs, choice: WeatherPlan) -> dict[str, Sequence[InForce]]:
    """Return the bridges of each basin's weather: by default the one that produced its product, if any."""
    applied: dict[str, Sequence[InForce]] = {name: (bridge,) for name, bridge in inputs.bridges.items()}
    return {name: choice.bridges.get(name, applied.get(name, ())) for name in choice.weather}


def instant_known(clock: Clock, t0: Day | None) -> datetime:
    """Return the instant by which a weather forecast must have been available.

    That is now, or for a requested T0 the end of the next day."""
    if t0 is None:
        return clock.now()
    end = datetime.combine(as_date(t0 + 2 * ONE_DAY), time(), UTC)
    return min(clock.now(), end)
