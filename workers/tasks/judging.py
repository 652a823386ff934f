"""Handlers of jobs that score versions and verify forecasts."""

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from hydrology.base.absent import texts
from jobspec.jobs.judging import (
    CalibrationParams,
    ComparisonParams,
    EvaluationParams,
    LevelsParams,
    ReforecastParams,
    VerificationParams,
)
from records.job_permissions import permissions
from records.versions import promotions
from workers.job import JobRun
from workers.tasks.common import MAX_REPORTED

if TYPE_CHECKING:
    from operations.verification.calibrate import Calibrated


def evaluation(running: JobRun, params: EvaluationParams) -> dict[str, Any]:
    """Score a model version."""
    from operations.verification.evaluate import evaluate

    with running.work.database.reading() as session:
        version = permissions.version_of(session, running.grant, params.version)
        basins = params.basins or promotions.basins_of(session, version)
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


def calibration(running: JobRun, params: CalibrationParams) -> dict[str, Any]:
    """Fit the error model of a model version, or recalibrate its forecasts."""
    from operations.verification.calibrate import calibrate
    from operations.verification.recalibrate import recalibrate

    with running.work.database.reading() as session:
        version = permissions.version_of(session, running.grant, params.version)
        basins = promotions.basins_of(session, version)
    if params.forecasts:
        fitted = recalibrate(running.work, version)
        return {"version": version, "recalibrations": [asdict(of) for of in fitted]}
    model = calibrate(running.work, version, basins, params.period)
    return {"version": version, "error_model": _error_model(model)}


def _error_model(done: "Calibrated") -> dict[str, Any]:
    return asdict(done) | {"period": str(done.period), "basins": len(done.basins), "left_out": texts(done.left_out)}


def reforecast(running: JobRun, params: ReforecastParams) -> dict[str, Any]:
    """Compute and store the skill of a model version's reforecasts."""
    from operations.verification.reforecast import reforecast as run

    with running.work.database.reading() as session:
        version = permissions.version_of(session, running.grant, params.version)
        basins = params.basins or promotions.basins_of(session, version)
    done = run(running.work, version, basins, params.period, every=params.every, horizon=params.horizon)
    return {
        "version": version,
        "scored": done.scored,
        "basins": len(done.basins),
        "error_model": done.error_model,
        "left_out": texts(done.left_out),
    }


def verification(running: JobRun, params: VerificationParams) -> dict[str, Any]:
    """Compute and store the skill of issued forecasts."""
    from operations.verification.verify_issued import verify

    done = verify(running.work, _version(running, params.version))
    return {
        "versions": [
            {
                "version": of.version_id,
                "basins": len(of.basins),
                "changed": len(of.changed),
                "left_out": dict(islice(texts(of.left_out).items(), MAX_REPORTED)),
            }
            for of in done
        ]
    }


def _version(running: JobRun, version: str | None) -> str | None:
    """Return the named version, or None for all in use. For an operator the newest version instead of None."""
    if running.grant.is_official:
        return version
    with running.work.database.reading() as session:
        return permissions.version_of(session, running.grant, version)


def levels(running: JobRun, params: LevelsParams) -> dict[str, Any]:
    """Compute and store thresholds from model versions' simulations of past days."""
    from operations.verification.simulated_levels import compute

    version = _version(running, params.version)
    done = compute(running.work, version, params.basins)
    return {
        "versions": [
            {
                "version": of.version_id,
                "basins": len(of.basins),
                "left_out": dict(islice(texts(of.left_out).items(), MAX_REPORTED)),
            }
            for of in done
        ]
    }


def comparison(running: JobRun, params: ComparisonParams) -> dict[str, Any]:
    """Compare model versions with the first of them."""
    from operations.verification.compare import compare

    owner = running.grant.owner
    compared = compare(running.work, params.versions, params.period, params.basins, owner=owner)
    stored = compared.comparison
    return {"comparison": stored.id, "basins": len(stored.basins), "left_out": texts(stored.result.left_out)}
