"""The commands that score versions: `evaluate`, `calibrate`, `reforecast`, `verify`, `compare`; and `retrain`."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from app.exports import table as tables
from app.versions import comparisons, verification
from app.versions import scores as score_answers
from freshet.cli.job_command import Done, job_command
from freshet.cli.output import facts, inform, listing, table
from freshet.commands.skill import in_training
from hydrology.base.calendar import as_date
from hydrology.base.errors import counted
from hydrology.verification.results import ALL_YEAR
from jobspec.jobs.judging import CalibrationJob, ComparisonJob, EvaluationJob, ReforecastJob, VerificationJob
from jobspec.jobs.training import RetrainingJob
from records.verification.scores import DRAWS, MEAN

_QUARTILES = "basins: n | 25 %: p25 | median | 75 %: p75"
_DIFFERENCE = (
    "difference: difference.median | better: difference.better | worse: difference.worse | p: difference.p | "
    "why there is no p: difference.reason"
)
_BY_LEAD = (
    "weather | period.first_day | period.last_day | lead | forecaster | basins | "
    "coverage 90: coverage_90.median | coverage 50: coverage_50.median | width 90: width_90_mm_per_day.median | "
    "crps: crps_mm_per_day.median | crpss climatology: crpss_climatology.median | "
    "crpss persistence: crpss_persistence.median | nse of median: nse_of_median.median | pod: pod.median | "
    "far: far.median"
)
_VERSION = (
    "version: id | label | architecture | conserving | product | members | parameters | training, s: training_seconds"
)
_PRINTED = "model | score: metric | median | 25 %: p25 | 75 %: p75 | sd | source"
_FITTED = "weather | fitted.fitted_on | fitted.issue_days | observed flows: fitted.days"
_ERROR_MODEL = "fitted on: period | basins | basins with numbers of their own: own | observed days: days | sha256"
_COMPARED = "score | version: cuts.version | basins: n | 25 %: cuts.p25 | cuts.median | 75 %: cuts.p75"


def _evaluated(done: Done) -> "tables.Table":
    return score_answers.table_by_basin(done.session, done.result["version"], done.params.period, done.params.basins)


@job_command(EvaluationJob, device=True, table_of=_evaluated)
def evaluate(done: Done) -> Iterator[RenderableType]:
    """Score a version over a period: its members' mean, how well water is conserved, and its snow.

    With an error model of other days also the distribution of draws of the calibrated flow.

    Without --basin: the basins that the version was trained on.
    """
    result, version, basins = done.result, done.result["version"], done.params.basins
    title = f"Version {version}, {done.params.period}, {counted(result['nse']['basins'], 'basin')}"
    if result["scored"] != version:
        title += f", scored by its twin {result['scored']}"
    title += f", {in_training(result['period_use'])}"
    if result["worst_residual"] is not None:
        title += f", worst closure residual {result['worst_residual']:.1e} of the water"
    if not basins:
        scores = _of_period(done, score_answers.model_skill(done.session, version).scores)
        yield listing(scores, f"score: metric | of: member | {_QUARTILES}", title)
        return
    skills = {
        basin: _of_period(done, score_answers.basin_skill(done.session, basin, version).scores) for basin in basins
    }
    rows = [
        (basin, one.metric, one.member, one.n, one.value, one.reason)
        for basin, scores in skills.items()
        for one in scores
    ]
    yield table(("basin", "score", "of", "days", "value", "why there is none"), rows, title)


def _of_period(done: Done, scores: list[Any]) -> list[Any]:
    days = (as_date(done.params.period.first), as_date(done.params.period.last))
    return [
        one
        for one in scores
        if (one.period.first_day, one.period.last_day, one.member) in [(*days, MEAN), (*days, DRAWS)]
    ]


@job_command(CalibrationJob)
def calibrate(done: Done) -> Iterator[RenderableType]:
    """Fit the error model of a version: forecasts then carry calibrated quantiles.

    It replaces the version's earlier error model. Without --basin it is fitted on the basins that the version was
    trained on. With --forecasts the forecasts with a weather forecast are recalibrated by the flow that came after
    those issued.
    """
    if "recalibrations" in done.result:
        yield listing(done.result["recalibrations"], _FITTED, f"Forecasts of version {done.result['version']}")
        return
    model = done.result["error_model"]
    title = f"Error model of version {model['fitted']}"
    title += "" if model["fitted"] == model["version_id"] else f", the twin of {model['version_id']}"
    yield facts(model, _ERROR_MODEL, title)


@job_command(ReforecastJob, device=True)
def reforecast(done: Done) -> Iterator[RenderableType]:
    """Forecast past days with observed weather, and report forecast skill by lead time.

    The forecasts are verified against observed flow, along with the uncalibrated members, the flow of other years
    (climatology) and the last observed flow (persistence, damped and not). Without --basin: the basins that the version
    was trained on.
    """
    result, period = done.result, done.params.period
    title = f"Version {result['version']}, forecasts over {period} with observed weather"
    if result["scored"] != result["version"]:
        title += f", of its twin {result['scored']}, which has not learnt from these years"
    first, last = as_date(period.first), as_date(period.last)
    figures = [row for row in _verified(done, result["version"]) if row.origin == "reforecast"]
    shown = [row for row in figures if (row.period.first_day, row.period.last_day) == (first, last)]
    yield _by_lead(shown, title)


@job_command(VerificationJob)
def verify(done: Done) -> Iterator[RenderableType]:
    """Verify issued forecasts against later observations, and report forecast skill by lead time.

    Flow is used once it is 30 days old, because first reports are revised. Each kind of weather after T0 is reported
    separately. Run again on the same data, it changes nothing.
    """
    for one in done.result["versions"]:
        shown = [row for row in _verified(done, one["version"]) if row.origin == "issued"]
        yield _by_lead(shown, f"Issued forecasts of version {one['version']}")


def _verified(done: Done, version: str) -> list[Any]:
    return verification.model_verification(done.session, version, ALL_YEAR).verification


def _by_lead(figures: list[Any], title: str) -> RenderableType:
    lacking = ((row.forecaster, row.missing.get("crps_mm_per_day")) for row in figures)
    for forecaster, reason in dict.fromkeys(lacking):
        if reason:
            inform(f"{forecaster}: {reason}")
    return listing(figures, _BY_LEAD, f"{title}. Medians over basins:")


def _compared(done: Done) -> "tables.Table":
    return comparisons.comparison_table(comparisons.comparison_of(done.session, done.result["comparison"]))


@job_command(ComparisonJob, table_of=_compared)
def compare(done: Done) -> Iterator[RenderableType]:
    """Compare versions on the same basins and days. Default: the basins that all were trained for.

    The others are compared with the first. A comparison repeated with nothing changed is stored once.
    """
    found = comparisons.comparison_of(done.session, done.result["comparison"])
    yield listing(found.versions, _VERSION, f"Comparison {found.id}, {counted(len(found.basins), 'basin')}")
    rows = [
        {
            "score": score.metric if score.unit == "1" else f"{score.metric}, {score.unit}",
            "cuts": cuts,
            "difference": next((one for one in score.differences if one.version == cuts.version), None),
            "n": score.n,
        }
        for score in found.scores
        for cuts in score.versions
    ]
    yield listing(rows, f"{_COMPARED} | {_DIFFERENCE}", "Differences: to the first.")
    published = [asdict(one) | {"model": of.model} for of in found.published_models for one in of.scores]
    if not published:
        inform(found.missing["published_models"])
    for of in found.published_models:
        inform(f"{of.model}: {of.source}. {of.citation}")
    yield listing(published, f"model | score: metric | {_QUARTILES} | {_DIFFERENCE}", "Published scores")
    printed = [asdict(one) | {"model": of.model} for of in found.published_table.models for one in of.medians]
    yield listing(printed, _PRINTED, f"As printed. {found.published_table.note}")


@job_command(RetrainingJob, device=True)
def retrain(done: Done) -> Iterator[RenderableType]:
    """Retrain the recipe of the version in use on the current record, and score the result.

    Two ensembles are trained: the candidate on every day of the record, and its twin, which is scored in its place, on
    all but the years to score. Of a version that combines others, each part is retrained, and the results are combined
    with the same weights. Run again, the command continues from the last checkpoints. Without a new water year since
    the last training, it does nothing.
    """
    if (version := done.result["version"]) is not None:
        in_use = ", ".join(done.result["decision"]["promoted"]) or "none"
        yield f"Version {version}, its twin {done.result['twin']}. Basins that use it from now on: {in_use}."
