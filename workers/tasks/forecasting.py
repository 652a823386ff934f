"""Handlers of jobs that forecast, score versions and verify forecasts."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hydrology.base.absent import Absent, absent, texts
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from jobspec.jobs import forecasting as requests
from jobspec.jobs import judging
from records.database.base import from_json, to_json
from records.job_permissions import permissions
from records.jobs.jobs import Job
from records.runs.run_types import Run
from records.versions import promotions
from workers.division import cores, divide
from workers.job import MAX_REPORTED, JobRun

if TYPE_CHECKING:
    from ingestion.base import SourceFile
    from operations.daily.daily_cycle import CyclePlan
    from operations.daily.daily_forecasts import DailyRequest
    from operations.verification.simulated_levels import LevelsComputed
    from operations.verification.verify_issued import Verified
    from records.feeds.feeds import FetchedBasin


def forecast(running: JobRun, params: requests.ForecastParams) -> dict[str, Any]:
    """Issue forecast runs."""
    from operations.forecasting.forecast import forecast as issue

    issued = issue(running.work, running.request(params))
    return {"runs": [_issued(running, run) for run in issued]}


def _issued(running: JobRun, run: Run) -> dict[str, Any]:
    if run.t0_note:
        running.log(f"Run {run.id}: {run.t0_note}")
    result = {"run": run.id, "status": run.status, "t0": str(run.t0), "t0_age_days": run.t0_age_days}
    return result | ({"t0_note": run.t0_note} if run.t0_note else {})


def what_if(running: JobRun, params: requests.WhatIfParams) -> dict[str, Any]:
    """Compute what-if runs."""
    from operations.what_if import what_if as make

    created = make(running.work, running.request(params), by=running.job.created_by)
    return {"runs": [_issued(running, run) | {"base": run.what_if and run.what_if.base} for run in created]}


def volumes(running: JobRun, params: requests.VolumesParams) -> dict[str, Any]:
    """Issue forecasts of seasonal volumes."""
    from operations.forecasting.forecast import forecast_volumes

    issued = forecast_volumes(running.work, running.request(params))
    return {"runs": [_issued(running, run) for run in issued]}


def daily(running: JobRun, params: requests.DailyParams) -> dict[str, Any]:
    """Run the daily cycle, its parts side by side, and report the outcome of every basin."""
    from operations.daily.daily_cycle import CyclePlan, IssuedPart, after_daily, close

    plan = _prepare(running, params) if running.job.plan is None else from_json(CyclePlan, running.job.plan)
    asked = _newest(running, params.horizon)
    parts = [
        requests.DailyPartJob(params=requests.DailyPartParams(basins=names, horizon=params.horizon))
        for names in plan.parts
    ]
    done = [
        IssuedPart.failed(names, _why(result)) if isinstance(result, Job) else from_json(IssuedPart, result)
        for names, result in zip(plan.parts, divide(running, parts, daily_part, to_json(plan)), strict=True)
    ]
    cycle = close(running.work, plan, done, asked)
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


def _prepare(running: JobRun, params: requests.DailyParams) -> "CyclePlan":
    from operations.daily.daily_cycle import prepare
    from operations.feeds.fetch import FetchCallbacks
    from operations.upkeep import audit_details

    def note(feed: str, done: "list[FetchedBasin]", files: "list[SourceFile]") -> None:
        running.record("feed fetched", feed, **audit_details.fetched(done, files))

    listener = FetchCallbacks(notify=running.log, pause=running.pause)
    work = replace(running.work, cores=cores(running))
    return prepare(work, running.intake(), names=params.feeds, listener=listener, on_fetch=note)


def _newest(running: JobRun, horizon: int) -> "DailyRequest":
    from operations.daily.daily_forecasts import DailyRequest

    return DailyRequest(horizon, running.grant.purpose, owner=running.grant.owner)


def _why(failed: Job) -> Absent:
    problem = failed.problem or {"detail": f"Job {failed.id} was {failed.status}."}
    return absent(Reason.FAILED, message=problem["detail"])


def daily_part(running: JobRun, params: requests.DailyPartParams) -> dict[str, Any]:
    """Issue the newest forecasts of a part of the basins."""
    from operations.daily.daily_cycle import issue_part

    content: dict[str, Any] = to_json(issue_part(running.work, params.basins, _newest(running, params.horizon)))
    return content


def backfill(running: JobRun, params: requests.BackfillParams) -> dict[str, Any]:
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


def replay(running: JobRun, params: requests.ReplayParams) -> dict[str, Any]:
    """Issue the forecasts of past days as if each were today."""
    from operations.daily.replay import replay as run

    done = run(running.work, running.request(params))
    reasons = {basin: str(reason) for basin, reason in done.reasons.items()}
    for basin, reason in reasons.items():
        running.log(f"{basin} has no forecast for the last day. {reason}")
    shown = dict(islice(reasons.items(), MAX_REPORTED))
    return {"runs": len(done.runs), "alert_changes": len(done.changes), "reasons": shown}


if TYPE_CHECKING:
    pass


def evaluation(running: JobRun, params: judging.EvaluationParams) -> dict[str, Any]:
    """Score a model version."""
    from operations.verification.evaluate import evaluate

    version, basins = _chosen(running, params.version, params.basins)
    scores = evaluate(running.work, version, params.period, basins)
    if scores.warning is not None:
        running.log(scores.warning)
    nse = scores.quartiles("nse")
    return {
        "version": version,
        "scored": scores.scored,
        "period": str(scores.period),
        "period_use": scores.use,
        "warning": scores.warning,
        "nse": {"basins": nse.n, "p25": nse.p25, "median": nse.median, "p75": nse.p75},
        "worst_residual": scores.worst_residual,
        "left_out": texts(scores.left_out),
    }


def calibration(running: JobRun, params: judging.CalibrationParams) -> dict[str, Any]:
    """Fit the error model of a model version, or recalibrate its forecasts."""
    from operations.verification.calibrate import calibrate
    from operations.verification.recalibrate import recalibrate

    version, basins = _chosen(running, params.version)
    if params.forecasts:
        fitted = recalibrate(running.work, version)
        return {"version": version, "recalibrations": [asdict(of) for of in fitted]}
    model = calibrate(running.work, version, basins, params.period)
    error_model = {"period": str(model.period), "basins": len(model.basins), "left_out": texts(model.left_out)}
    return {"version": version, "error_model": asdict(model) | error_model}


def reforecast(running: JobRun, params: judging.ReforecastParams) -> dict[str, Any]:
    """Compute and store the skill of a model version's reforecasts."""
    from operations.verification.reforecast import reforecast as run

    version, basins = _chosen(running, params.version, params.basins)
    done = run(running.work, version, basins, params.period, every=params.every, horizon=params.horizon)
    return {
        "version": version,
        "scored": done.scored,
        "basins": len(done.basins),
        "error_model": done.error_model,
        "left_out": texts(done.left_out),
    }


def verification(running: JobRun, params: judging.VerificationParams) -> dict[str, Any]:
    """Compute and store the skill of issued forecasts."""
    from operations.verification.verify_issued import verify

    done = verify(running.work, _version(running, params.version))
    return {"versions": [_of_version(of) | {"changed": len(of.changed)} for of in done]}


def _of_version(of: "Verified | LevelsComputed") -> dict[str, Any]:
    left_out = dict(islice(texts(of.left_out).items(), MAX_REPORTED))
    return {"version": of.version_id, "basins": len(of.basins), "left_out": left_out}


def _chosen(running: JobRun, version: str | None, basins: Sequence[str] = ()) -> tuple[str, Sequence[str]]:
    """Return the named version or by default the newest, and the named basins or by default those it learnt from."""
    with running.work.database.reading() as session:
        chosen = permissions.version_of(session, running.grant, version)
        return chosen, basins or promotions.basins_of(session, chosen)


def _version(running: JobRun, version: str | None) -> str | None:
    """Return the named version, or None for all in use. For an operator the newest version instead of None."""
    if running.grant.is_official:
        return version
    with running.work.database.reading() as session:
        return permissions.version_of(session, running.grant, version)


def levels(running: JobRun, params: judging.LevelsParams) -> dict[str, Any]:
    """Compute and store thresholds from model versions' simulations of past days."""
    from operations.verification.simulated_levels import compute

    done = compute(running.work, _version(running, params.version), params.basins)
    return {"versions": [_of_version(of) for of in done]}


def comparison(running: JobRun, params: judging.ComparisonParams) -> dict[str, Any]:
    """Compare model versions with the first of them."""
    from operations.verification.compare import compare

    owner = running.grant.owner
    compared = compare(running.work, params.versions, params.period, params.basins, owner=owner)
    stored = compared.comparison
    return {"comparison": stored.id, "basins": len(stored.basins), "left_out": texts(stored.result.left_out)}
