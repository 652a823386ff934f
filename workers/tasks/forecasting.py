"""Handlers of jobs that forecast."""

from itertools import islice
from typing import TYPE_CHECKING, Any

from hydrology.base.errors import DataProblem
from jobspec.jobs.forecasting import (
    BackfillParams,
    DailyParams,
    ForecastParams,
    ReplayParams,
    VolumesParams,
    WhatIfParams,
)
from records.runs.run_types import Run
from workers.job import JobRun
from workers.tasks.common import MAX_REPORTED, intake_of

if TYPE_CHECKING:
    from ingestion.base import SourceFile
    from records.feeds.feeds import FetchedBasin


def forecast(running: JobRun, params: ForecastParams) -> dict[str, Any]:
    """Issue forecast runs."""
    from operations.forecasting.forecast import forecast as issue

    issued = issue(running.work, running.request(params))
    return {"runs": [_issued(running, run) for run in issued]}


def _issued(running: JobRun, run: Run) -> dict[str, Any]:
    if run.t0_note:
        running.log(f"Run {run.id}: {run.t0_note}")
    result = {"run": run.id, "status": run.status, "t0": str(run.t0), "t0_age_days": run.t0_age_days}
    return result | ({"t0_note": run.t0_note} if run.t0_note else {})


def what_if(running: JobRun, params: WhatIfParams) -> dict[str, Any]:
    """Compute what-if runs."""
    from operations.what_if import what_if as make

    created = make(running.work, running.request(params), by=running.job.created_by)
    return {"runs": [_issued(running, run) | {"base": run.what_if and run.what_if.base} for run in created]}


def volumes(running: JobRun, params: VolumesParams) -> dict[str, Any]:
    """Issue forecasts of seasonal volumes."""
    from operations.forecasting.forecast import forecast_volumes

    issued = forecast_volumes(running.work, running.request(params))
    return {"runs": [_issued(running, run) for run in issued]}


def daily(running: JobRun, params: DailyParams) -> dict[str, Any]:
    """Run the daily cycle and report the outcome of every basin."""
    from operations.daily.daily_cycle import after_daily
    from operations.daily.daily_cycle import daily as run
    from operations.daily.daily_forecasts import DailyRequest
    from operations.feeds.fetch import FetchCallbacks
    from operations.upkeep import audit_details

    def note(feed: str, done: "list[FetchedBasin]", files: "list[SourceFile]") -> None:
        running.record("feed fetched", feed, **audit_details.fetched(done, files))

    listener = FetchCallbacks(notify=running.log, pause=running.pause)
    asked = DailyRequest(params.horizon, running.grant.purpose, owner=running.grant.owner)
    places = intake_of(running)
    cycle = run(running.work, places, asked, names=params.feeds, listener=listener, on_fetch=note)
    for sentence in after_daily(running.work):
        running.log(sentence)
    shown = {basin.basin: str(basin.reason) for basin in cycle.basins if basin.status in ("stale", "failed")}
    for basin, reason in shown.items():
        running.log(f"{basin} has no forecast for today. {reason}")
    if len(shown) == len(cycle.basins):
        raise DataProblem(f"None of the {len(shown)} basins has a forecast for today. {next(iter(shown.values()), '')}")
    return {
        "counts": cycle.counts,
        "basins": {basin.basin: basin.status for basin in cycle.basins},
        "reasons": dict(islice(shown.items(), MAX_REPORTED)),
        "problems": {name: str(problem) for name, problem in cycle.problems.items()},
        "alert_changes": len(cycle.changes),
        "runs": [{"run": created.id, "status": created.status, "t0": str(created.t0)} for created in cycle.runs],
    }


def backfill(running: JobRun, params: BackfillParams) -> dict[str, Any]:
    """Fetch past weather forecasts, reforecast with them and recalibrate forecasts."""
    from operations.feeds.fetch import FetchCallbacks
    from operations.verification.backfill import backfill as run

    listener = FetchCallbacks(notify=running.log, pause=running.pause)
    done = run(running.work, params, listener)
    running.record("feed backfilled", params.feed or done.weather, **done.counts)
    remarks = done.remarks[:MAX_REPORTED]
    for sentence in remarks:
        running.log(sentence)
    return {"weather": done.weather} | done.counts | {"warnings": remarks}


def replay(running: JobRun, params: ReplayParams) -> dict[str, Any]:
    """Issue the forecasts of past days as if each were today."""
    from operations.daily.replay import replay as run

    done = run(running.work, running.request(params))
    reasons = {basin: str(reason) for basin, reason in done.reasons.items()}
    for basin, reason in reasons.items():
        running.log(f"{basin} has no forecast for the last day. {reason}")
    shown = dict(islice(reasons.items(), MAX_REPORTED))
    return {"runs": len(done.runs), "alert_changes": len(done.changes), "reasons": shown}
