"""The CRPS of the past forecasts of a basin's weather models, each by its own distribution."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

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


@dataclass(frozen=True, slots=True)
class PastScores:
    """The CRPS of past forecasts: (models, issues, leads) in mm/day, NaN where unknown, and issue days before T0."""

    scores: Array
    days: Array

    @property
    def compared(self) -> int:
        """Number of issue days on which two models or more were judged."""
        return int((np.isfinite(self.scores).any(axis=2).sum(axis=0) > 1).sum())


def past_scores(session: Session, plan: Plan, models: Mapping[str, Sequence[str]]) -> dict[str, PastScores]:
    """Return the scores of weather models' forecasts in some basins, by the flow that is known at the plan's issue."""
    last, leads = plan.days.last_past, plan.days.to_come.horizon
    keys = _issued(session, [*models], last)
    issued = runs.get_many(session, {run for run, _ in keys})
    days = [issued[run].weather_until for run, _ in keys]
    observed = _observed(session, plan, [*models], Period(min(days, default=last), last))
    found: dict[str, PastScores] = {}
    for name, of_basin in grouped((basin, run) for run, basin in keys).items():
        if name not in observed:
            continue
        by_day: dict[Day, dict[str, Array]] = defaultdict(dict)
        contents = runs.series_of_many(session, [(run, name) for run in of_basin], run_arrays.CALIBRATIONS)
        for run in of_basin:  # a later one of the same day and weather model replaces an earlier one
            by_day[issued[run].weather_until] |= _own(issued[run], contents[run, name])
        first, flow = observed[name]
        scores = np.full((len(models[name]), len(by_day), leads), np.nan)
        for issue, (at, of_day) in enumerate(sorted(by_day.items())):
            came = flow[days_between(first, at) + 1 :][:leads]
            for row, model in enumerate(models[name]):
                if model in of_day:
                    count = min(len(came), len(of_day[model]))
                    scores[row, issue, :count] = crps(of_day[model][:count], LEVELS, came[:count])
        found[name] = PastScores(scores, np.array([days_between(at, last) for at in sorted(by_day)], dtype=float))
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


def _observed(session: Session, plan: Plan, names: Sequence[str], days: Period) -> dict[str, tuple[Day, Array]]:
    stored = [plan.inputs.basins[name] for name in names]
    flows = discharge_of(session, stored, plan.inputs.loaded.version.area_products, days, plan.inputs.by)
    return {name: (days.first, flow) for name, flow in flows if not isinstance(flow, Absent)}
