"""Handlers of jobs that forecast."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from hydrology.base.absent import absent
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from jobspec.jobs import forecasting as requests
from operations import what_if as what_ifs
from operations.daily import issue_record
from operations.daily import replay as replays
from operations.daily.daily_cycle import (
    CyclePlan,
    IssuedPart,
    after_daily,
    close,
    fetch_group,
    issue_part,
    prepare,
    start,
)
from operations.daily.daily_forecasts import DailyRequest
from operations.feeds.fetch import FetchCallbacks, FetchedPart
from operations.forecasting import forecast as forecasts
from operations.upkeep import audit_details
from operations.verification import backfill as backfills
from records.database.base import from_json, to_json
from records.runs import runs
from records.runs.run_types import Purpose, Run
from workers.division import Division, cores, divide, stored_outcome
from workers.job import MAX_REPORTED, JobRun


def _whole_forecast(running: JobRun, params: requests.ForecastParams) -> list[requests.ForecastParams]:
    with running.work.database.reading() as session:
        by_version = forecasts.basins_by_version(session, params.basins, params.version)
    return [params.model_copy(update={"basins": [name for names in by_version.values() for name in names]})]


def _forecast_part(running: JobRun, params: requests.ForecastParams) -> IssuedPart:
    issued = forecasts.forecast(running.work, running.request(params))
    issue_record.settle_runs(running.work, issued)
    return IssuedPart([], [run.id for run in issued])


def _forecast(running: JobRun, done: Sequence[tuple[requests.ForecastParams, IssuedPart]]) -> dict[str, Any]:
    ids = [run for _, part in done for run in part.runs]
    with running.work.database.reading() as session:
        issued = runs.get_many(session, ids)
    left_out = {basin.basin: str(basin.reason) for _, part in done for basin in part.basins}
    result = {"runs": [_issued(running, issued[run]) for run in ids]}
    return result | ({"left_out": left_out} if left_out else {})


forecast = Division(IssuedPart, _whole_forecast, _forecast_part, _forecast)
"""Issue forecast runs; of many basins in parts, each with runs of its own."""


def _issued(running: JobRun, run: Run) -> dict[str, Any]:
    if run.t0_note:
        running.log(f"Run {run.id}: {run.t0_note}")
    result = {"run": run.id, "status": run.status, "t0": str(run.t0), "t0_age_days": run.t0_age_days}
    return result | ({"t0_note": run.t0_note} if run.t0_note else {})


def what_if(running: JobRun, params: requests.WhatIfParams) -> dict[str, Any]:
    """Compute what-if runs."""
    created = what_ifs.what_if(running.work, running.request(params), by=running.job.created_by)
    return {"runs": [_issued(running, run) | {"base": run.what_if and run.what_if.base} for run in created]}


def volumes(running: JobRun, params: requests.VolumesParams) -> dict[str, Any]:
    """Issue forecasts of seasonal volumes."""
    issued = forecasts.forecast_volumes(running.work, running.request(params))
    return {"runs": [_issued(running, run) for run in issued]}


def daily(running: JobRun, params: requests.DailyParams) -> dict[str, Any]:
    """Run the daily cycle, its parts side by side, and report the outcome of every basin."""
    asked = _newest(running, params)
    work = replace(running.work, cores=cores(running))
    plan = start(work, asked, params.feeds) if running.job.plan is None else from_json(CyclePlan, running.job.plan)
    if plan.parts is None:
        plan = prepare(work, plan, _fetched(running, params, plan), partial(_note_fetch, running))
    parts = [_part(params, names) for names in plan.parts or ()]
    done = divide(running, parts, _issued_part, IssuedPart, to_json(plan))
    cycle = close(running.work, plan, done, asked)
    for sentence in after_daily(running.work):
        running.log(sentence)
    shown = {basin.basin: str(basin.reason) for basin in cycle.basins if basin.status in ("stale", "failed")}
    for basin, reason in shown.items():
        running.log(f"{basin} has no forecast for {params.day or 'today'}. {reason}")
    if cycle.basins and len(shown) == len(cycle.basins):
        none = f"None of the {len(shown)} basins has a forecast for {params.day or 'today'}."
        raise DataProblem(f"{none} {next(iter(shown.values()), '')}")
    return {
        "counts": cycle.counts,
        "basins": {basin.basin: basin.status for basin in cycle.basins},
        "reasons": dict(islice(shown.items(), MAX_REPORTED)),
        "problems": {name: str(problem) for name, problem in cycle.problems.items()},
        "alert_changes": cycle.alert_changes,
        "runs": [{"run": created.id, "status": created.status, "t0": str(created.t0)} for created in cycle.runs],
    }


def _part(whole: requests.DailyParams, basins: list[str], feed: str | None = None) -> requests.DailyPartJob:
    params = requests.DailyPartParams(basins=basins, feed=feed, horizon=whole.horizon, day=whole.day)
    return requests.DailyPartJob(params=params)


def _fetched(running: JobRun, params: requests.DailyParams, plan: CyclePlan) -> list[FetchedPart]:
    groups = [_part(params, names, feed) for feed, names in plan.fetches]
    try:
        return divide(running, groups, _fetch_group, FetchedPart, to_json(plan))
    except DataProblem as problem:  # all of them failed: forecasts start from what is stored
        return [FetchedPart.failed((), absent(Reason.FAILED, message=str(problem)))] * len(groups)


def _fetch_group(running: JobRun, params: requests.DailyPartParams) -> FetchedPart:
    assert params.feed is not None
    return fetch_group(running.work, running.intake(), params.feed, params.basins, running.pause)


def _note_fetch(running: JobRun, feed: str, done: FetchedPart) -> None:
    for sentence in done.notes:
        running.log(sentence)
    running.record("feed fetched", feed, **audit_details.fetched(done.basins, done.files))


def _newest(running: JobRun, params: requests.DailyParams | requests.DailyPartParams) -> DailyRequest:
    job = None if running.works_alone else running.job.id
    purpose: Purpose = running.grant.purpose if params.day is None else "late"
    return DailyRequest(params.horizon, purpose, owner=running.grant.owner, job=job, day=params.day)


def daily_part(running: JobRun, params: requests.DailyPartParams) -> dict[str, Any]:
    """Fetch the data of a part of the basins, or issue their newest forecasts."""
    return stored_outcome(_issued_part(running, params) if params.feed is None else _fetch_group(running, params))


def _issued_part(running: JobRun, params: requests.DailyPartParams) -> IssuedPart:
    return issue_part(running.work, params.basins, _newest(running, params))


def backfill(running: JobRun, params: requests.BackfillParams) -> dict[str, Any]:
    """Fetch past weather forecasts, reforecast with them and recalibrate forecasts."""
    listener = FetchCallbacks(notify=running.log, pause=running.pause)
    done = backfills.backfill(running.work, params, listener)
    running.record("feed backfilled", params.feed or done.weather, **done.counts)
    remarks = done.remarks[:MAX_REPORTED]
    for sentence in remarks:
        running.log(sentence)
    return {"weather": done.weather} | done.counts | {"warnings": remarks}


def _whole_replay(running: JobRun, params: requests.ReplayParams) -> list[requests.ReplayParams]:
    by_product = replays.basins_by_product(running.work, params)
    return [params.model_copy(update={"basins": names}) for names in by_product.values()]


def _replay_part(running: JobRun, params: requests.ReplayParams) -> replays.ReplayedPart:
    done = replays.replay(running.work, running.request(params))
    return replays.ReplayedPart(len(done.runs), len(done.changes), done.reasons)


def _replay(running: JobRun, done: Sequence[tuple[requests.ReplayParams, replays.ReplayedPart]]) -> dict[str, Any]:
    parts = [part for _, part in done]
    reasons = {basin: str(reason) for part in parts for basin, reason in part.reasons.items()}
    for basin, reason in reasons.items():
        running.log(f"{basin} has no forecast for the last day. {reason}")
    shown = dict(islice(reasons.items(), MAX_REPORTED))
    changes = sum(part.changes for part in parts)
    return {"runs": sum(part.runs for part in parts), "alert_changes": changes, "reasons": shown}


replay = Division(replays.ReplayedPart, _whole_replay, _replay_part, _replay)
"""Issue the forecasts of past days as if each were today."""
