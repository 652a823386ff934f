"""Mixes a run's calibrated forecasts with those of the other weather models that its basins have.

The run's own weather model is the one with the newest forecast. The others are simulated from the same states over the
same days, each with its own error of weather and its own recalibration; of them only the calibrated flow is stored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from extensions.mixture.past import Past, pasts
from extensions.mixture.rule import Losses, drawn, expected_losses, mixed
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from operations.forecasting.plans import Plan, instant_known, possible_plans
from operations.forecasting.results import results_of
from operations.forecasting.weather_choice import Filling
from records.database.stored import grouped
from records.database.work import Work
from records.runs.run_arrays import CALIBRATED, OF_WEATHER, PATHS, RunSeries
from records.runs.run_summary import WeatherShare
from records.runs.run_types import BasinResult
from records.runs.run_weather import RunWeather, name_of_weather
from records.weather.weather_issues import ISSUES, PARTS

BEHIND = timedelta(days=1)
"""A weather forecast takes part while its reference time is at most this much older than that of the run's."""
EXPECTED = timedelta(days=10)
"""A weather model is expected while the reference time of its newest forecast is at most this much older."""


@dataclass(frozen=True, slots=True)
class OwnForecast:
    """The calibrated forecast with one weather model: quantiles (leads, `LEVELS`) and paths (paths, leads), mm/day."""

    weather: RunWeather
    quantiles: Array
    paths: Array


def mix(work: Work, plan: Plan, results: list[BasinResult]) -> list[BasinResult]:
    """Mix the calibrated forecasts of a plan with those of other weather models over the same days.

    Basins with one weather model stay as they are, and so do runs with a named weather forecast.
    """
    if plan.forecast is None or plan.params.weather_id is not None:
        return results
    of_run = {one.basin.basin_id: own for one in results if (own := _own(plan.forecast, one)) is not None}
    with work.database.reading() as session:
        known = max(instant_known(work.clock, plan.days.last_past), plan.forecast.available_time)
        expected = _expected(session, plan.forecast, plan.days.to_come.ahead, [*of_run], known)
    others = _others(work, plan, expected)
    there = {
        name: {plan.forecast.name: own}
        | {model: one for model, one in others[name].items() if isinstance(one, OwnForecast)}
        for name, own in of_run.items()
        if name in others
    }
    several = {name: [*own] for name, own in there.items() if len(own) > 1}
    with work.database.reading() as session:
        past = pasts(session, plan, several) if several else {}
    alike = grouped((one.models, one.losses) for one in past.values())
    of_all = {models: Losses.mean(losses) for models, losses in alike.items()}
    return [
        _with_others(plan, one, there[name], others[name], past.get(name), of_all)
        if (name := one.basin.basin_id) in there
        else one
        for one in results
    ]


def _own(weather: RunWeather, result: BasinResult) -> OwnForecast | None:
    wanted = (CALIBRATED, PATHS) if result.basin.status == "issued" else ()
    arrays = {one.variable: one.values.astype(np.float64) for one in result.series if one.variable in wanted}
    return OwnForecast(weather, arrays[CALIBRATED].T, arrays[PATHS]) if arrays else None


def _expected(
    session: Session, used: RunWeather, ahead: Period, names: Sequence[str], known: datetime
) -> dict[str, dict[str, str | None]]:
    """Return the other weather models of basins, each with its newest forecast that can be taken; None without one.

    It was available at an instant, holds the days ahead, and is hardly older than that of the run.
    """
    rows = session.execute(
        select(PARTS.c.basin_id, ISSUES.c.source, ISSUES.c.model, ISSUES.c.id, ISSUES.c.reference_time)
        .add_columns(((PARTS.c.first <= ahead.first) & (PARTS.c.last >= ahead.last)).label("holds"))
        .join(ISSUES, ISSUES.c.id == PARTS.c.issue_id)
        .where(PARTS.c.basin_id.in_(names), ISSUES.c.operational.is_(True))
        .where(PARTS.c.available_time <= known, ISSUES.c.reference_time >= used.reference_time - EXPECTED)
        .order_by(ISSUES.c.reference_time, ISSUES.c.id)
    )
    found: dict[str, dict[str, str | None]] = {}
    for row in rows:
        model = name_of_weather(row.source, row.model)
        if model != used.name:
            of_basin = found.setdefault(row.basin_id, {})
            of_basin.setdefault(model, None)
            if row.holds and row.reference_time >= used.reference_time - BEHIND:
                of_basin[model] = row.id
    return found


def _others(
    work: Work, plan: Plan, expected: Mapping[str, Mapping[str, str | None]]
) -> dict[str, dict[str, OwnForecast | Absent]]:
    """Return what basins have of the other weather models, or why a model is missing."""
    late = absent(Reason.WEATHER_MODEL_LATE, days=str(plan.days.to_come.ahead))
    found: dict[str, dict[str, OwnForecast | Absent]] = {
        name: dict.fromkeys(sorted(of_basin), late) for name, of_basin in expected.items()
    }
    pairs = (
        ((model, issue), name) for name, of in expected.items() for model, issue in of.items() if issue is not None
    )
    filling = Filling(days=plan.days.filled, climatology=False) if plan.days.filled else None
    for (model, issue), names in sorted(grouped(pairs).items()):
        params = plan.params.model_copy(update={"weather_id": issue})
        possible, failures = possible_plans(work, plan.inputs.only(names), params, filling=filling)
        for name, why in failures.items():
            found[name][model] = why
        for one in possible:
            if one.forecast is None or one.days != plan.days:
                continue
            for result in results_of(work.quiet, one, store_states=False):
                if (own := _own(one.forecast, result)) is not None:
                    found[result.basin.basin_id][model] = own
    return found


def _with_others(
    plan: Plan,
    result: BasinResult,
    there: Mapping[str, OwnForecast],
    others: Mapping[str, OwnForecast | Absent],
    past: Past | None,
    of_all: Mapping[tuple[str, ...], Losses],
) -> BasinResult:
    """Return a basin's result with the mixture of the models that are there, and the shares of all."""
    leads = plan.days.to_come.horizon
    losses = Losses.none(len(there), leads) if past is None else past.losses
    precipitation = plan.parts[0].loaded.config.inputs.mass
    skills = [own.weather.skill for own in there.values()]
    expected = expected_losses([one.correlations[precipitation] for one in skills], [one.issues for one in skills])
    share = losses.shares(of_all.get(tuple(there), losses), expected)
    missing = {model: why for model, why in others.items() if isinstance(why, Absent)}
    issues = 0 if past is None else past.issues
    of_models = [
        WeatherShare(
            name=model,
            id=own.weather.id,
            credit=own.weather.credit,
            issues=issues,
            by_lead=tuple(np.round(of_model, 4).tolist()),
        )
        for (model, own), of_model in zip(there.items(), share, strict=True)
    ] + [WeatherShare(name=model, by_lead=(0.0,) * leads, reason=why) for model, why in missing.items()]
    calibration = result.basin.summary.calibration
    assert not isinstance(calibration, Absent)
    summary = replace(result.basin.summary, calibration=replace(calibration, weather_shares=tuple(of_models)))
    named = replace(result, basin=replace(result.basin, summary=summary))
    return named if len(there) == 1 else replace(named, series=[*_mixed(plan, result, there, share)])


def _mixed(plan: Plan, result: BasinResult, there: Mapping[str, OwnForecast], share: Array) -> Iterator[RunSeries]:
    """Yield a result's arrays with the calibrated flow of the mixture, and each model's own quantiles."""
    quantiles = np.stack([own.quantiles for own in there.values()])
    by_lead = share[:, np.maximum(np.arange(plan.days.horizon) - plan.days.filled, 0)]
    of_mixture = mixed(quantiles, by_lead)
    paths = drawn([own.paths for own in there.values()], of_mixture, by_lead).astype(np.float32)
    for one in result.series:
        if one.variable == CALIBRATED:
            yield replace(one, values=of_mixture.T.astype(np.float32))
            axes = {"weather": [*there], **one.axes}
            yield RunSeries(OF_WEATHER, one.unit, axes, quantiles.swapaxes(1, 2).astype(np.float32))
        elif one.variable == PATHS:
            yield replace(one, axes={**one.axes, "path": [*range(len(paths))]}, values=paths)
        else:
            yield one
