"""Handlers of jobs that score versions and verify forecasts."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from hydrology.base.absent import texts
from jobspec.jobs import judging as requests
from operations.verification import reforecast as reforecasts
from operations.verification.calibrate import calibrate
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from operations.verification.recalibrate import recalibrate
from operations.verification.simulated_levels import LevelsComputed, compute
from operations.verification.verify_issued import Verified, verify
from records.job_permissions import permissions
from records.versions import promotions
from workers.job import MAX_REPORTED, JobRun


def evaluation(running: JobRun, params: requests.EvaluationParams) -> dict[str, Any]:
    """Score a model version."""
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


def calibration(running: JobRun, params: requests.CalibrationParams) -> dict[str, Any]:
    """Fit the error model of a model version, or recalibrate its forecasts."""
    version, basins = _chosen(running, params.version)
    if params.forecasts:
        fitted = recalibrate(running.work, version)
        return {"version": version, "recalibrations": [asdict(of) for of in fitted]}
    model = calibrate(running.work, version, basins, params.period)
    error_model = {"period": str(model.period), "basins": len(model.basins), "left_out": texts(model.left_out)}
    return {"version": version, "error_model": asdict(model) | error_model}


def reforecast(running: JobRun, params: requests.ReforecastParams) -> dict[str, Any]:
    """Compute and store the skill of a model version's reforecasts."""
    version, basins = _chosen(running, params.version, params.basins)
    done = reforecasts.reforecast(
        running.work, version, basins, params.period, every=params.every, horizon=params.horizon
    )
    return {
        "version": version,
        "scored": done.scored,
        "basins": len(done.basins),
        "error_model": done.error_model,
        "left_out": texts(done.left_out),
    }


def verification(running: JobRun, params: requests.VerificationParams) -> dict[str, Any]:
    """Compute and store the skill of issued forecasts."""
    done = verify(running.work, _version(running, params.version))
    return {"versions": [_of_version(of) | {"changed": len(of.changed)} for of in done]}


def _of_version(of: Verified | LevelsComputed) -> dict[str, Any]:
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


def levels(running: JobRun, params: requests.LevelsParams) -> dict[str, Any]:
    """Compute and store thresholds from model versions' simulations of past days."""
    done = compute(running.work, _version(running, params.version), params.basins)
    return {"versions": [_of_version(of) for of in done]}


def comparison(running: JobRun, params: requests.ComparisonParams) -> dict[str, Any]:
    """Compare model versions with the first of them."""
    owner = running.grant.owner
    stored = compare(running.work, params.versions, params.period, params.basins, owner=owner)
    return {"comparison": stored.id, "basins": len(stored.basins), "left_out": texts(stored.result.left_out)}
