"""What each kind of job does. Each handler is thin: the operations do the work.

torch is loaded by the operations alone, in the process that computes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrology.errors import DataProblem
from jobspec.basins import AddedBasin, ClimateParams
from jobspec.kinds import (
    BridgeParams,
    CalibrationParams,
    CheckParams,
    ComparisonParams,
    DailyParams,
    DeliveryParams,
    EvaluationParams,
    FetchParams,
    ForecastParams,
    IngestParams,
    LevelsParams,
    MemberJob,
    MemberParams,
    PretrainedParams,
    PruneParams,
    ReforecastParams,
    ReplayParams,
    RetrainingParams,
    TrainingParams,
    UploadParams,
    VerificationParams,
    VolumesParams,
    WeatherParams,
    WhatIfParams,
)
from records import audit, feeds, jobs, promotions, runs, versions
from records.documents import to_json
from workers import uploads
from workers.job import Handler, Running, Waiting

if TYPE_CHECKING:
    from ingestion.sources.base import Source
    from operations.calibrate import Calibrated
    from operations.ingest import Outcome
    from operations.intake import Intake
    from operations.train import Begun

MEMBER_ATTEMPTS = 10  # each goes on from the newest checkpoint, and days may lie between two losses of a worker
MOST_TOLD = 100  # basins whose refusals a job's result tells; its log tells all


def ingest(running: Running, params: IngestParams) -> dict[str, Any]:
    """Ingest data from a source."""
    from ingestion.sources import benchmarks
    from ingestion.sources.camels import CamelsSource
    from ingestion.sources.caravan import CaravanSource
    from operations.ingest_benchmarks import ingest_published

    with _intake(running).of(params.from_) as (paths, files):
        match params.source:
            case "benchmarks":
                published = benchmarks.read(paths[0], files)
                return asdict(ingest_published(running.tools.database, running.tools.clock, published))
            case "caravan":
                return _ingested(running, CaravanSource(paths, files), params.basins)
            case "camels":
                return _ingested(running, CamelsSource(paths, params.product, files), params.basins)


def upload(running: Running, params: UploadParams) -> dict[str, Any]:
    """Ingest a table that was sent to the service."""
    from ingestion.reading import Files
    from ingestion.sources.tables import TablesSource
    from operations import posted

    with running.tools.database.reading() as session:
        changeable = posted.changeable(session, running.job)
    settings = running.tools.settings
    files = Files((*settings.ingest_roots, uploads.folder(settings.data)), _on_file(running))
    return _ingested(running, TablesSource(None, Path(params.observations_file), params.product, changeable, files))


def weather(running: Running, params: WeatherParams) -> dict[str, Any]:
    """Keep a weather forecast that was sent to the service. One from an operator's key takes no place of a feed's."""
    from ingestion.reading import Files
    from operations import posted
    from operations.weather import add

    tools = running.tools
    with tools.database.reading() as session:
        operational = posted.speaks_for_the_service(session, running.job)
    files = Files((uploads.folder(tools.settings.data),), running.show_file)
    kept = add(tools.database, tools.clock, Path(params.weather_file), files, operational=operational)
    for reason in kept.refused.values():
        running.log(f"Refused: {reason}")
    return {
        "weather": kept.issue_id,
        "new": len(kept.new),
        "known": len(kept.known),
        "refused": dict(islice(kept.refused.items(), MOST_TOLD)),
        "refused_basins": len(kept.refused),
    }


def _ingested(running: Running, source: "Source", basins: Sequence[str] = ()) -> dict[str, Any]:
    from operations.ingest import ingest as run

    def show(outcome: "Outcome", done: int, total: int) -> None:
        if outcome.error:
            running.log(f"{outcome.basin} failed: {outcome.error}")
        running.show(done, total, f"{outcome.basin} {outcome.status}")

    outcomes = run(running.tools.database, source, running.tools.clock, basins, show)
    return _counted(outcomes, "ingested")


def _counted(outcomes: Sequence["Outcome"], done: str) -> dict[str, Any]:
    """Return what a job tells of its basins.

    Raises:
        DataProblem: all of them failed.
    """
    failed = {outcome.basin: outcome.error for outcome in outcomes if outcome.status == "failed"}
    if failed and len(failed) == len(outcomes):
        raise DataProblem(f"None of the {len(outcomes)} basins could be {done}. {next(iter(failed.values()))}")
    counts = Counter(outcome.status for outcome in outcomes)
    return {"counts": dict(counts), "failed": failed}


def fetch(running: Running, params: FetchParams) -> dict[str, Any]:
    """Ask a feed for what is new."""
    from operations.feeds import Listener
    from operations.feeds import fetch as run

    def show(basin: feeds.FetchedBasin, done: int, total: int) -> None:
        if basin.status == "failed":
            running.log(f"{basin.basin_id} failed: {basin.reason}")
        running.show(done, total, f"{basin.basin_id} {basin.status}")

    tools = running.tools
    listener = Listener(show, running.log, running.pause)
    intake = _intake(running)
    done = run(tools.database, tools.clock, tools.settings, intake, params.feed, params.basins, params.period, listener)
    failed = {one.basin_id: one.reason for one in done if one.status == "failed"}
    if len(failed) == len(done):
        raise DataProblem(f"Nothing came of any of the {len(done)} basins. {next(iter(failed.values()))}")
    return {"counts": feeds.statuses(done), "failed": failed}


def bridge(running: Running, params: BridgeParams) -> dict[str, Any]:
    """Fit a bridge where that is asked for, and apply it."""
    from operations import posted
    from operations.bridge import apply, fit

    tools = running.tools

    def show(basin: str, done: int, total: int) -> None:
        running.show(done, total, basin)

    result: dict[str, Any] = {}
    if params.fit is not None:
        with tools.database.reading() as session:
            posted.require_may_fit(session, running.job, params.name, params.fit.model)
        fitted = fit(tools.database, tools.clock, params.name, params.fit, params.basins, show)
        for reason in fitted.refused.values():
            running.log(f"Not fitted: {reason}")
        result = {"bridge": fitted.id, "refused_basins": len(fitted.refused)}
        if params.fit.model is not None:
            return result
    outcomes = apply(tools.database, tools.clock, params.name, () if params.fit else params.basins, show)
    return result | _counted(outcomes, "bridged")


def daily(running: Running, params: DailyParams) -> dict[str, Any]:
    """Ask the feeds, apply the bridges, issue the newest forecasts, and tell of every basin what came of it."""
    from operations.daily import Watcher
    from operations.daily import daily as run
    from operations.newest import Asked

    tools = running.tools

    def show(what: str, done: int, total: int, detail: str) -> None:
        running.show(done, total, f"{what}: {detail}" if detail else what)

    watcher = Watcher(show, running.log, running.pause)
    asked = Asked(params.horizon, _purpose(running))
    cycle = run(tools.database, tools.clock, tools.settings, _intake(running), asked, params.feeds, watcher)
    told = {basin.basin: basin.reason for basin in cycle.basins if basin.status in ("stale", "failed")}
    for basin, reason in told.items():
        running.log(f"{basin} has no forecast of today. {reason}")
    if len(told) == len(cycle.basins):
        raise DataProblem(f"None of the {len(told)} basins has a forecast of today. {next(iter(told.values()), '')}")
    return {
        "counts": cycle.counts,
        "basins": {basin.basin: basin.status for basin in cycle.basins},
        "reasons": dict(islice(told.items(), MOST_TOLD)),
        "problems": cycle.problems,
        "alert_changes": len(cycle.changes),
        "runs": [{"run": made.id, "status": made.status, "t0": str(made.t0)} for made in cycle.runs],
    }


def replay(running: Running, params: ReplayParams) -> dict[str, Any]:
    """Issue the forecasts of past mornings as if each were today."""
    from operations.replay import replay as run

    tools = running.tools
    done = run(tools.database, tools.clock, params, purpose=_purpose(running), on_morning=running.show)
    for basin, reason in done.reasons.items():
        running.log(f"{basin} has no forecast of the last morning. {reason}")
    reasons = dict(islice(done.reasons.items(), MOST_TOLD))
    return {"runs": len(done.runs), "alert_changes": len(done.changes), "reasons": reasons}


def _purpose(running: Running) -> runs.Purpose:
    """Return why a job issues forecasts."""
    from operations import posted

    with running.tools.database.reading() as session:
        return "operational" if posted.speaks_for_the_service(session, running.job) else "on-request"


def basin(running: Running, params: AddedBasin) -> dict[str, Any]:
    """Add a basin, or what more is known of one."""
    from operations import posted
    from operations.gauges import add

    tools, job = running.tools, running.job
    with tools.database.reading() as session:
        posted.require_describable(session, job, params.basin)
    return asdict(add(tools.database, tools.clock, tools.settings, params, job.key_id, running.pause))


def climate(running: Running, params: ClimateParams) -> dict[str, Any]:
    """Compute the climate indices of a basin."""
    from operations import posted
    from operations.climate import compute

    tools = running.tools
    with tools.database.reading() as session:
        posted.require_describable(session, running.job, params.basin)
    computed = compute(tools.database, tools.clock, params.basin, params.product, params.period)
    return {"basin": computed.basin, "computed_from": computed.source, "indices": asdict(computed.indices)}


def _intake(running: Running) -> "Intake":
    """Return where a job may read files from."""
    from operations.intake import Intake

    settings = running.tools.settings

    def show(received: int, size: int | None) -> None:
        running.show(received, size or received, "bytes")

    downloads = settings.data / "downloads"
    return Intake(downloads, settings.ingest_hosts, settings.ingest_roots, show, _on_file(running))


def _on_file(running: Running) -> Callable[[str], None]:
    """Return what shows each file before it is read, and refuses those at which the job's process has died twice."""
    from ingestion.sources.base import SourceError

    with running.tools.database.reading() as session:
        deadly = jobs.deadly_files(session, running.job.id)

    def show(name: str) -> None:
        if name in deadly:
            cause = f"the process that read it {deadly[name]}, twice"
            raise SourceError(name, cause, "get it from its publisher again, or leave it out")
        running.show_file(name)

    return show


def training(running: Running, params: TrainingParams) -> dict[str, Any]:
    """Train an ensemble: post a child job for each member, then, when all have ended, assemble the version.

    With `compare` the version is compared with the current ones, and replaces them only by the promotion rule.
    """
    from operations.basins import chosen
    from operations.promotion_rule import decide, require_decidable
    from operations.train import assemble, begin

    tools, rule = running.tools, params.compare
    with tools.database.reading() as session:
        basins = chosen(session, params.basins)
        if rule is not None:
            require_decidable(session, params.config, rule)
    work = begin(tools.database, tools.clock, params.config, basins)
    _have_trained(running, work)
    trained = assemble(tools.database, tools.clock, work, params.label)
    if trained.refused is not None:
        running.log(trained.refused)
    result = {"version": trained.version_id, "basins": len(trained.basins), "left_out": trained.left_out}
    if rule is None:
        return result
    decision = decide(tools.database, tools.clock, trained.version_id, rule, running.show)
    running.log(decision.sentence)
    return result | {"decision": to_json(decision)}


def retraining(running: Running, params: RetrainingParams) -> dict[str, Any]:
    """Train a season's candidate and its twin, decide what is in use, and give the candidate what one in use needs."""
    from operations import retrain

    tools = running.tools
    with tools.database.reading() as session:
        children = jobs.children(session, running.job.id)
        season = None if children else retrain.season(session, params)
    if isinstance(season, str):
        running.log(season)
        return {"version": None, "reason": season}
    # Once members are posted, the trainings stay those, whatever has come in since.
    twin, candidate = (
        retrain.reopen_both(tools.database, [child.params["training"] for child in children])
        if season is None
        else retrain.begin_both(tools.database, tools.clock, season)
    )
    _have_trained(running, twin, candidate)

    def show(step: str, done: int, total: int) -> None:
        running.show(done, total, step)

    done = retrain.conclude(tools.database, tools.clock, twin, candidate, params, params.label, show)
    running.log(done.decision.sentence)
    return {
        "version": done.trained.version_id,
        "twin": done.twin_id,
        "basins": len(done.trained.basins),
        "left_out": done.trained.left_out,
        "decision": to_json(done.decision),
    }


def _have_trained(running: Running, *works: "Begun") -> None:
    """Post a job for each member of some trainings and wait for them; return when all have ended well.

    Raises:
        Waiting: they have been posted, or have not all ended.
        DataProblem: a member was not trained.
    """
    with running.tools.database.reading() as session:
        children = jobs.children(session, running.job.id)
    unfinished = [work for work in works if work.version_id is None]
    if unfinished and not children:
        for reason in unfinished[0].prepared.left_out.values():
            running.log(f"Left out: {reason}")
        _post_members(running, unfinished)
        raise Waiting
    if any(child.status not in jobs.ENDED for child in children):  # the worker that posted them was lost
        raise Waiting
    if failures := [child for child in children if child.status in ("failed", "cancelled")]:
        reason = (failures[0].problem or {}).get("detail", failures[0].status)
        raise DataProblem(f"{len(failures)} of {len(children)} members were not trained: {reason}")


def _post_members(running: Running, works: Sequence["Begun"]) -> None:
    """Post a job for each member, all or none; the worker sends them when this job waits."""
    job = running.job
    with running.tools.database.transaction() as session:
        jobs.hold(session, job.id, job.attempt)
        for work in works:
            for member in range(work.config.members):
                request = MemberJob(params=MemberParams(training=work.training_id, member=member))
                new = jobs.NewJob(
                    kind=request.kind,
                    params=request.stored(),
                    queue=request.queue,
                    parent_id=job.id,
                    max_attempts=MEMBER_ATTEMPTS,
                )
                jobs.create(session, new, running.tools.clock.wall())


def member(running: Running, params: MemberParams) -> dict[str, Any]:
    """Train one member, from its newest checkpoint if there is one."""
    from models.training import Progress
    from operations.train import reopen, train_member

    tools = running.tools

    def show(progress: Progress) -> None:
        running.show(progress.step, progress.steps, f"loss {progress.loss:.4f}")

    work = reopen(tools.database, params.training)
    if work.version_id is None:
        train_member(tools.database, tools.clock, work, params.member, tools.settings.device, show)
    return {"training": work.training_id, "member": params.member}


def forecast(running: Running, params: ForecastParams) -> dict[str, Any]:
    """Issue forecast runs."""
    from operations.forecast import forecast as issue

    tools, key = running.tools, running.job.id
    issued = issue(tools.database, tools.clock, params, purpose=_purpose(running), key=key, on_days=running.show)
    return {"runs": [{"run": run.id, "status": run.status, "t0": str(run.t0)} for run in issued]}


def what_if(running: Running, params: WhatIfParams) -> dict[str, Any]:
    """Make what-if runs."""
    from operations.whatif import what_if as make

    tools, job = running.tools, running.job
    made = make(tools.database, tools.clock, params, by=job.created_by, key=job.id, on_days=running.show)
    return {
        "runs": [
            {"run": run.id, "status": run.status, "t0": str(run.t0), "base": run.what_if and run.what_if.base}
            for run in made
        ]
    }


def volumes(running: Running, params: VolumesParams) -> dict[str, Any]:
    """Issue forecasts of seasonal volumes."""
    from operations.volumes import forecast_volumes

    tools = running.tools
    issued = forecast_volumes(tools.database, tools.clock, params, key=running.job.id, on_days=running.show)
    return {"runs": [{"run": run.id, "status": run.status, "t0": str(run.t0)} for run in issued]}


def evaluation(running: Running, params: EvaluationParams) -> dict[str, Any]:
    """Score a model version."""
    from operations.evaluate import evaluate

    tools = running.tools
    with tools.database.reading() as session:
        version = params.version or versions.newest(session).id
        basins = params.basins or promotions.basins_of(session, version)
    scores = evaluate(tools.database, tools.clock, version, params.period, basins, running.show)
    count, low, median, high = scores.quartiles("nse")
    return {
        "version": version,
        "scored": scores.scored,
        "nse": {"basins": count, "p25": low, "median": median, "p75": high},
        "worst_residual": scores.worst_residual,
        "left_out": scores.left_out,
    }


def calibration(running: Running, params: CalibrationParams) -> dict[str, Any]:
    """Fit the error model of a model version."""
    from operations.calibrate import calibrate, calibrate_forecasts

    tools = running.tools
    with tools.database.reading() as session:
        version = params.version or versions.newest(session).id
        basins = promotions.basins_of(session, version)
    models = (
        calibrate_forecasts(tools.database, tools.clock, version)
        if params.forecasts
        else [calibrate(tools.database, tools.clock, version, basins, params.period, running.show)]
    )
    return {"version": version, "error_models": [_error_model(model) for model in models]}


def _error_model(done: "Calibrated") -> dict[str, Any]:
    return asdict(done) | {"period": str(done.period), "basins": len(done.basins)}


def reforecast(running: Running, params: ReforecastParams) -> dict[str, Any]:
    """Keep how true the forecasts of a model version are."""
    from operations.reforecast import reforecast as run

    tools = running.tools
    with tools.database.reading() as session:
        version = params.version or versions.newest(session).id
        basins = params.basins or promotions.basins_of(session, version)
    done = run(
        tools.database,
        tools.clock,
        version,
        basins,
        params.period,
        every=params.every,
        horizon=params.horizon,
        on_basins=running.show,
    )
    return {
        "version": version,
        "scored": done.scored,
        "basins": len(done.basins),
        "error_model": done.error_model,
        "left_out": done.left_out,
    }


def verification(running: Running, params: VerificationParams) -> dict[str, Any]:
    """Keep how true the forecasts were that model versions have issued."""
    from operations.verify import verify

    done = verify(running.tools.database, running.tools.clock, params.version, running.show)
    return {
        "versions": [
            {
                "version": of.version_id,
                "basins": len(of.basins),
                "changed": len(of.changed),
                "left_out": dict(islice(of.left_out.items(), MOST_TOLD)),
            }
            for of in done
        ]
    }


def levels(running: Running, params: LevelsParams) -> dict[str, Any]:
    """Keep the levels of what model versions simulate of past days."""
    from operations.model_levels import compute

    done = compute(running.tools.database, running.tools.clock, params.version, params.basins, running.show)
    return {
        "versions": [
            {
                "version": of.version_id,
                "basins": len(of.basins),
                "left_out": dict(islice(of.left_out.items(), MOST_TOLD)),
            }
            for of in done
        ]
    }


def pretrained(running: Running, params: PretrainedParams) -> dict[str, Any]:
    """Install a shipped ensemble and, with `promote`, make it current for the basins that have no version."""
    from operations.pretrained import install, promote_where_vacant, read_shipped

    tools = running.tools
    ensemble = read_shipped(params.name, tools.settings.pretrained)
    installation = asdict(install(tools.database, tools.clock, ensemble, params.product))
    version = installation.pop("version_id")
    result = {"version": version, **installation}
    if not params.promote:
        return result
    promotion = promote_where_vacant(tools.database, tools.clock, version)
    return result | {"promoted": list(promotion.basins), "left_out": promotion.left_out}


def comparison(running: Running, params: ComparisonParams) -> dict[str, Any]:
    """Compare model versions with the first of them."""
    from operations.compare import compare

    tools = running.tools
    compared = compare(tools.database, tools.clock, params.versions, params.period, params.basins, running.show)
    stored = compared.comparison
    return {"comparison": stored.id, "basins": len(stored.basins), "left_out": dict(stored.result.left_out)}


def check(running: Running, _params: CheckParams) -> dict[str, Any]:
    """Check all that is kept."""
    from records import soundness

    done = soundness.check(running.tools.database, running.show)
    for sentence in done.sentences[:MOST_TOLD]:
        running.log(sentence)
    done.require()
    return {"rows": done.row_count}


def delivery(running: Running, _params: DeliveryParams) -> dict[str, Any]:
    """Send the alert changes that receivers wait for."""
    from operations.deliveries import deliver

    tools = running.tools
    counts = deliver(tools.database, tools.settings, tools.clock.wall, running.show)
    return {"deliveries": dict(counts)}


def prune(running: Running, _params: PruneParams) -> dict[str, Any]:
    """Delete what is older than the rules of retention keep it."""
    from operations.prune import prune as run

    def show(what: str, done: int, total: int) -> None:
        running.show(done, total, what)

    tools, job = running.tools, running.job
    actor = audit.Actor(job.created_by or f"job {job.id}", job.key_id)
    done = run(tools.database, tools.clock, tools.settings, actor, show=show)
    return {"pruned": {of_rule.rule: of_rule.count for of_rule in done}}


HANDLERS: dict[str, Handler] = {
    "ingest": ingest,
    "upload": upload,
    "weather": weather,
    "fetch": fetch,
    "bridge": bridge,
    "daily": daily,
    "replay": replay,
    "basin": basin,
    "climate": climate,
    "training": training,
    "retraining": retraining,
    "member": member,
    "forecast": forecast,
    "what-if": what_if,
    "volumes": volumes,
    "evaluation": evaluation,
    "calibration": calibration,
    "reforecast": reforecast,
    "verification": verification,
    "levels": levels,
    "comparison": comparison,
    "pretrained": pretrained,
    "check": check,
    "prune": prune,
    "delivery": delivery,
}
