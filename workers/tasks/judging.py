"""Handlers of jobs that score versions and verify forecasts."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from hydrology.base.absent import texts
from jobspec.jobs import judging as requests
from operations.verification import reforecast as reforecasts
from operations.verification import simulated_levels
from operations.verification.calibrate import SimulatedPart, simulate_part, versions_to_fit
from operations.verification.calibrate import conclude as conclude_calibration
from operations.verification.compare import ComparedPart, basins_to_compare, compare_part, conclude_comparison
from operations.verification.evaluate import EvaluatedPart, conclude, evaluate_part
from operations.verification.past_simulation import StoredPart
from operations.verification.recalibrate import recalibrate
from operations.verification.simulated_levels import LevelsComputed
from operations.verification.verify_issued import Verified, verify
from records.database.stored import grouped
from records.job_permissions import permissions
from records.versions import promotions
from workers.division import Division
from workers.job import MAX_REPORTED, JobRun


def _whole_evaluation(running: JobRun, params: requests.EvaluationParams) -> list[requests.EvaluationParams]:
    version, basins = _chosen(running, params.version, params.basins)
    return [params.model_copy(update={"version": version, "basins": [*basins]})]


def _evaluated(running: JobRun, params: requests.EvaluationParams) -> EvaluatedPart:
    version, basins = _chosen(running, params.version, params.basins)
    return evaluate_part(running.work, version, params.period, basins)


def _evaluation(running: JobRun, done: Sequence[tuple[requests.EvaluationParams, EvaluatedPart]]) -> dict[str, Any]:
    first, basins = done[0][0], [basin for params, _ in done for basin in params.basins]
    version, period = first.version or "", first.period
    scores = conclude(running.work, version, period, basins, [part for _, part in done])
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


evaluation = Division(EvaluatedPart, _whole_evaluation, _evaluated, _evaluation)
"""Score a model version."""


def calibration(running: JobRun, params: requests.CalibrationParams) -> dict[str, Any]:
    """Fit the error model of a model version, or recalibrate its forecasts."""
    if not params.forecasts:
        return _error_model(running, params)
    version, _ = _chosen(running, params.version)
    return {"version": version, "recalibrations": [asdict(of) for of in recalibrate(running.work, version)]}


def _whole_calibration(running: JobRun, params: requests.CalibrationParams) -> list[requests.CalibrationParams]:
    version, basins = _chosen(running, params.version, params.basins)
    period, to_fit = versions_to_fit(running.work, version, basins, params.period)
    return [params.model_copy(update={"version": of, "period": period, "basins": [*basins]}) for of in to_fit]


def _simulated(running: JobRun, params: requests.CalibrationParams) -> SimulatedPart:
    version, basins = _chosen(running, params.version, params.basins)
    assert params.period is not None
    return simulate_part(running.work, version, basins, params.period)


def _calibrated(running: JobRun, done: Sequence[tuple[requests.CalibrationParams, SimulatedPart]]) -> dict[str, Any]:
    period, by_version = done[0][0].period, grouped((params.version or "", part) for params, part in done)
    assert period is not None
    model = conclude_calibration(running.work, period, by_version)
    error_model = {"period": str(model.period), "basins": len(model.basins), "left_out": texts(model.left_out)}
    return {"version": model.version_id, "error_model": asdict(model) | error_model}


_error_model = Division(SimulatedPart, _whole_calibration, _simulated, _calibrated)


def _whole_reforecast(running: JobRun, params: requests.ReforecastParams) -> list[requests.ReforecastParams]:
    version, basins = _chosen(running, params.version, params.basins)
    reforecasts.judged_by(running.work, version, params.period)
    return [params.model_copy(update={"version": version, "basins": [*basins]})]


def _reforecast_part(running: JobRun, params: requests.ReforecastParams) -> StoredPart:
    version, basins = _chosen(running, params.version, params.basins)
    return reforecasts.reforecast_part(
        running.work, version, basins, params.period, every=params.every, horizon=params.horizon
    )


def _reforecast(running: JobRun, parts: Sequence[tuple[requests.ReforecastParams, StoredPart]]) -> dict[str, Any]:
    version, period = parts[0][0].version or "", parts[0][0].period
    done = reforecasts.conclude(running.work, version, period, [part for _, part in parts])
    return {
        "version": version,
        "scored": done.scored,
        "basins": len(done.basins),
        "error_model": done.error_model,
        "left_out": texts(done.left_out),
    }


reforecast = Division(StoredPart, _whole_reforecast, _reforecast_part, _reforecast)
"""Compute and store the skill of a model version's reforecasts."""


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


def _whole_levels(running: JobRun, params: requests.LevelsParams) -> list[requests.LevelsParams]:
    version = _version(running, params.version)
    with running.work.database.reading() as session:
        asked = simulated_levels.asked_basins(session, version, params.basins)
    return [params.model_copy(update={"version": of, "basins": [*names]}) for of, names in asked.items()]


def _levels_part(running: JobRun, params: requests.LevelsParams) -> StoredPart:
    version, basins = _chosen(running, params.version, params.basins)
    return simulated_levels.compute_part(running.work, version, basins)


def _levels(_running: JobRun, done: Sequence[tuple[requests.LevelsParams, StoredPart]]) -> dict[str, Any]:
    by_version = grouped((params.version or "", part) for params, part in done)
    return {"versions": [_of_version(simulated_levels.conclude(*of)) for of in by_version.items()]}


levels = Division(StoredPart, _whole_levels, _levels_part, _levels)
"""Compute and store thresholds from model versions' simulations of past days."""


def _whole_comparison(running: JobRun, params: requests.ComparisonParams) -> list[requests.ComparisonParams]:
    basins = basins_to_compare(running.work, params.versions, params.period, params.basins)
    return [params.model_copy(update={"basins": [*basins]})]


def _compared(running: JobRun, params: requests.ComparisonParams) -> ComparedPart:
    return compare_part(running.work, params.versions, params.period, params.basins, owner=running.grant.owner)


def _comparison(running: JobRun, done: Sequence[tuple[requests.ComparisonParams, ComparedPart]]) -> dict[str, Any]:
    first, parts = done[0][0], [(params.basins, part) for params, part in done]
    stored = conclude_comparison(running.work, first.versions, first.period, parts, owner=running.grant.owner)
    return {"comparison": stored.id, "basins": len(stored.basins), "left_out": texts(stored.result.left_out)}


comparison = Division(ComparedPart, _whole_comparison, _compared, _comparison)
"""Compare model versions with the first of them."""
