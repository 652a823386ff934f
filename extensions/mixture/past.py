"""The past forecasts of a basin's weather models, each by its own distribution, and what they lost."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from extensions.mixture.rule import Losses, ages, distances
from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, days_between
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from operations.basin_data.dataset import discharge_of
from operations.forecasting.plans import Plan
from operations.states.advance_states import ONE_DAY
from records.database.stored import grouped
from records.runs import run_arrays, runs
from records.runs.run_types import PUBLISHED, RUN_BASINS, RUNS, Run, RunBasinKey

DAYS = 60
"""Issue days until T0 that count, and those within as many of the same date a year before."""
BEFORE = np.timedelta64(365, "D")


class Flow(NamedTuple):
    """Observed flow from a day on, mm/day."""

    first: Day
    values: Array


@dataclass(frozen=True, slots=True)
class Past:
    """What the past forecasts of a basin's weather models lost, and on how many issue days two of them were judged."""

    models: tuple[str, ...]
    losses: Losses
    issues: int

    @classmethod
    def of(
        cls, models: Sequence[str], by_day: Mapping[Day, Mapping[str, Array]], flow: Flow, last: Day, leads: int
    ) -> "Past":
        """Return what forecasts (leads, `LEVELS`) lost, by issue day and model, until the last day that has come."""
        scores = np.full((len(models), len(by_day), leads), np.nan)
        apart = np.full((len(models), *scores.shape), np.nan)
        for issue, (at, of_day) in enumerate(by_day.items()):
            came = flow.values[days_between(flow.first, at) + 1 :][:leads]
            there = [row for row, model in enumerate(models) if model in of_day]
            count = min([len(came), *(len(of_day[models[row]]) for row in there)])
            for row in there:
                scores[row, issue, :count] = crps(of_day[models[row]][:count], LEVELS, came[:count])
            if len(there) > 1:
                quantiles = np.stack([of_day[models[row]][:count] for row in there])
                apart[np.ix_(there, there, [issue], range(count))] = distances(quantiles)[:, :, np.newaxis]
        age = ages(np.array([days_between(at, last) for at in by_day], dtype=float))
        judged = np.isfinite(scores).any(axis=2).sum(axis=0) > 1
        return cls(tuple(models), Losses.of(scores, apart, age), int(judged.sum()))


def pasts(session: Session, plan: Plan, models: Mapping[str, Sequence[str]]) -> dict[str, Past]:
    """Return what weather models' forecasts in some basins lost, by the flow that is known at the plan's issue."""
    last = plan.days.last_past
    keys = _issued(session, [*models], last)
    issued = runs.get_many(session, {run for run, _ in keys})
    first = min((issued[run].weather_until for run, _ in keys), default=last)
    flows = _observed(session, plan, [*models], Period(first, last))
    found: dict[str, Past] = {}
    for name, of_basin in grouped((basin, run) for run, basin in keys).items():
        by_day: dict[Day, dict[str, Array]] = defaultdict(dict)
        contents = runs.series_of_many(session, [(run, name) for run in of_basin], run_arrays.CALIBRATIONS)
        for run in of_basin:  # a later one of the same day and weather model replaces an earlier one
            by_day[issued[run].weather_until] |= _own(issued[run], contents[run, name])
        if name in flows:
            found[name] = Past.of(models[name], by_day, flows[name], last, plan.days.to_come.horizon)
    return found


def _issued(session: Session, names: Collection[str], last: Day) -> list[RunBasinKey]:
    """Return the published runs of basins that count, the oldest first."""
    spans = [(last - DAYS * ONE_DAY, last - ONE_DAY), (last - BEFORE - DAYS * ONE_DAY, last - BEFORE + DAYS * ONE_DAY)]
    query = (
        select(RUNS.c.id, RUN_BASINS.c.basin_id)
        .join(RUN_BASINS, RUN_BASINS.c.run_id == RUNS.c.id)
        .where(RUN_BASINS.c.basin_id.in_(names), RUN_BASINS.c.status == "issued", RUNS.c.purpose.in_(PUBLISHED))
        .where(or_(*(RUNS.c.t0.between(*span) for span in spans)))
        .order_by(RUNS.c.id)
    )
    return [(run, basin) for run, basin in session.execute(query)]


def _own(run: Run, series: Mapping[str, run_arrays.RunSeries]) -> dict[str, Array]:
    """Return a run's quantiles of the days to come by weather model, (leads, `LEVELS`)."""
    own = {} if run.weather is None else run_arrays.by_weather(series, run.weather.name)
    return {name: values.T[run.filled_days :].astype(np.float64) for name, values in own.items()}


def _observed(session: Session, plan: Plan, names: Sequence[str], days: Period) -> dict[str, Flow]:
    stored = [plan.inputs.basins[name] for name in names]
    flows = discharge_of(session, stored, plan.inputs.loaded.version.area_products, days, plan.inputs.by)
    return {name: Flow(days.first, flow) for name, flow in flows if not isinstance(flow, Absent)}
