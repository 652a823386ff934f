"""Forecasts of seasonal volumes.

ESP runs with a horizon to the end of a season.

They are always stored as runs on request, so that a basin's latest forecast stays the operational one.
"""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from hydrology.base.calendar import Day
from jobspec.jobs.forecasting import ForecastParams, VolumesParams
from operations.basin_data.basins import last_ended
from operations.forecasting.days import choose_days
from operations.forecasting.forecast import NothingToForecast, basins_by_version, issue
from operations.forecasting.plan.plans import ForecastInputs, Plan, plans, read_inputs
from records.database.work import Work
from records.forecasts import seasonal_volumes
from records.runs import run_types
from records.runs.runs import RunRequest
from runtime.clock import Clock

log = structlog.get_logger()


def forecast_volumes(work: Work, request: RunRequest[VolumesParams]) -> list[run_types.Run]:
    """Issue the runs for the volume of the requested season, or of each basin's own."""
    params = request.params
    with work.database.reading() as session:
        groups = basins_by_version(session, params.basins, params.version)
        if earlier := request.earlier_runs(session):
            return earlier
    planned = [
        plan
        for version, names in groups.items()
        for plan in _plans(work, read_inputs(work.database, version, names), params)
    ]
    return issue(work, replace(request, purpose="on-request"), planned)


def _plans(work: Work, inputs: ForecastInputs, params: VolumesParams) -> list[Plan]:
    """Return the runs of a version. One for each number of days to the end of a season."""
    if not inputs.forcings:
        raise NothingToForecast(" ".join(map(str, inputs.failures.values())))
    t0 = _t0(work.clock, inputs, params.t0)
    by_horizon: dict[int, list[str]] = {}
    with work.database.reading() as session:
        for name in inputs.forcings:
            season = params.season or seasonal_volumes.season_of(session, name, t0)
            horizon = int((season.after(t0).last - t0).astype(int))
            by_horizon.setdefault(horizon, []).append(name)
    planned: list[Plan] = []
    for horizon, names in by_horizon.items():
        part = _part(inputs, names, with_failures=not planned)
        asked = ForecastParams(basins=names, t0=t0, horizon=horizon, weather="climatology")
        planned += plans(work, part, asked)
    return planned


def _t0(clock: Clock, inputs: ForecastInputs, asked: Day | None) -> Day:
    ended = max(last_ended(inputs.basins[name], clock.now()) for name in inputs.forcings)
    last = max(forcing.period.last for forcing in inputs.forcings.values())
    return choose_days(clock, asked, 1, last, ended).t0


def _part(inputs: ForecastInputs, names: Sequence[str], *, with_failures: bool) -> ForecastInputs:
    return replace(inputs.only(names), failures=inputs.failures if with_failures else {})
