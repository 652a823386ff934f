"""What each kind of job does. Thin: names and ids come in, the operations do the work.

torch is loaded by the operations alone, in the process that computes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrology.errors import DataProblem
from jobspec.kinds import (
    ComparisonParams,
    EvaluationParams,
    ForecastParams,
    IngestParams,
    MemberJob,
    MemberParams,
    PretrainedParams,
    TrainingParams,
    UploadParams,
)
from records import jobs, promotions, versions
from records.promotion_decision import Rule
from workers.job import Handler, Running, Waiting

if TYPE_CHECKING:
    from ingestion.reading import Files
    from ingestion.sources.base import Source
    from operations.intake import Intake


def ingest(running: Running, params: IngestParams) -> dict[str, Any]:
    """Bring data in."""
    from ingestion.sources.camels import CamelsSource
    from ingestion.sources.caravan import CaravanSource
    from operations.ingest_benchmarks import ingest_published

    with _intake(running).of(params.from_) as (paths, files):
        match params.source:
            case "benchmarks":
                return asdict(ingest_published(running.tools.database, running.tools.clock, paths[0], files))
            case "caravan":
                return _ingested(running, CaravanSource(paths, files), params.basins)
            case "camels":
                return _ingested(running, CamelsSource(paths, params.product, files), params.basins)


def upload(running: Running, params: UploadParams) -> dict[str, Any]:
    """Take tables in that were sent to the service."""
    from ingestion.sources.tables import TablesSource
    from operations import posted

    with running.tools.database.reading() as session:
        changeable = posted.changeable(session, running.job)
    basins, observations = (
        None if name is None else Path(name) for name in (params.basins_file, params.observations_file)
    )
    with _uploads(running, basins, observations) as files:
        return _ingested(running, TablesSource(basins, observations, params.product, changeable, files))


def _ingested(running: Running, source: "Source", basins: Sequence[str] = ()) -> dict[str, Any]:
    from operations.ingest import Outcome
    from operations.ingest import ingest as run

    def show(outcome: Outcome, done: int, total: int) -> None:
        if outcome.error:
            running.log(f"{outcome.basin} failed: {outcome.error}")
        running.show(done, total, f"{outcome.basin} {outcome.status}")

    outcomes = run(running.tools.database, source, running.tools.clock, basins, show)
    failed = {outcome.basin: outcome.error for outcome in outcomes if outcome.status == "failed"}
    if failed and len(failed) == len(outcomes):
        raise DataProblem(f"None of the {len(outcomes)} basins could be ingested. {next(iter(failed.values()))}")
    counts = Counter(outcome.status for outcome in outcomes)
    return {"counts": dict(counts), "failed": failed}


def _intake(running: Running) -> "Intake":
    """Return what an ingest job may read."""
    from operations.intake import Intake

    settings = running.tools.settings

    def show(received: int, size: int | None) -> None:
        running.show(received, size or received, "bytes")

    downloads = settings.data / "downloads"
    return Intake(downloads, settings.ingest_hosts, settings.ingest_roots, show, running.show_file)


@contextmanager
def _uploads(running: Running, *paths: Path | None) -> "Iterator[Files]":
    """Give the files that a job may read of uploads. One is deleted when it was taken in, or when it never can be."""
    from ingestion.reading import Files
    from ingestion.sources.base import SourceError

    settings = running.tools.settings
    folder = settings.data / "uploads"
    try:
        yield Files((*settings.ingest_roots, folder), running.show_file)
    except (SourceError, DataProblem):
        _delete_uploads(folder, paths)
        raise
    _delete_uploads(folder, paths)


def _delete_uploads(folder: Path, paths: Iterable[Path | None]) -> None:
    for path in paths:
        if path is not None and path.parent == folder:
            path.unlink(missing_ok=True)


def training(running: Running, params: TrainingParams) -> dict[str, Any]:
    """Train an ensemble: first make a child a member, then, when all are in, assemble the version.

    With `compare` the version is held against the current ones, and takes over only by the promotion rule.
    """
    import torch

    from operations.basins import chosen
    from operations.promotion_rule import decide, require_decidable
    from operations.train import assemble, begin

    tools, compare = running.tools, params.compare
    rule = None if compare is None else Rule(str(compare.period), compare.margin, compare.promote)
    with tools.database.reading() as session:
        children = jobs.children(session, running.job.id)
        basins = chosen(session, params.basins)
        if rule is not None:
            require_decidable(session, params.config, rule)
    begun = begin(tools.database, tools.clock, params.config, basins)
    for reason in begun.prepared.left_out.values():
        running.log(f"Left out: {reason}")
    if begun.version_id is None and not children:
        _make_members(running, begun.training_id, begun.config.members)
        raise Waiting
    if any(child.status not in jobs.ENDED for child in children):  # whoever made them was lost before it waited
        raise Waiting
    if broken := [child for child in children if child.status in ("failed", "cancelled")]:
        said = (broken[0].problem or {}).get("detail", broken[0].status)
        raise DataProblem(f"{len(broken)} of {len(children)} members were not trained: {said}")
    trained = assemble(tools.database, tools.clock, begun, params.label)
    result = {"version": trained.version_id, "basins": len(trained.basins), "left_out": trained.left_out}
    if rule is None:
        return result
    torch.set_num_threads(tools.settings.threads or 1)
    decision = decide(tools.database, tools.clock, trained.version_id, rule, running.show)
    running.log(decision.sentence)
    return result | {"decision": asdict(decision)}


def _make_members(running: Running, training_id: str, members: int) -> None:
    """Post a job for each member; the worker sends them when this job waits."""
    job = running.job
    with running.tools.database.transaction() as session:
        jobs.hold(session, job.id, job.attempt)
        for member in range(members):
            request = MemberJob(params=MemberParams(training=training_id, member=member))
            new = jobs.NewJob(kind=request.kind, params=request.stored(), queue=request.queue, parent_id=job.id)
            jobs.create(session, new, running.tools.clock.wall())


def member(running: Running, params: MemberParams) -> dict[str, Any]:
    """Train one member from its newest checkpoint."""
    import torch

    from models.training import Progress
    from operations.train import reopen, train_member

    tools = running.tools
    torch.set_num_threads(tools.settings.threads or 1)

    def show(progress: Progress) -> None:
        running.show(progress.step, progress.steps, f"loss {progress.loss:.4f}")

    begun = reopen(tools.database, params.training)
    if begun.version_id is None:
        train_member(tools.database, tools.clock, begun, params.member, tools.settings.device, show)
    return {"training": begun.training_id, "member": params.member}


def forecast(running: Running, params: ForecastParams) -> dict[str, Any]:
    """Issue forecast runs."""
    import torch

    from operations import posted
    from operations.basins import with_model
    from operations.forecast import Request
    from operations.forecast import forecast as run

    tools = running.tools
    torch.set_num_threads(tools.settings.threads or 1)
    with tools.database.reading() as session:
        names = params.basins or with_model(session, params.version)
        operational = posted.speaks_for_the_service(session, running.job)
    request = Request(
        tuple(names),
        horizon=params.horizon,
        t0=params.t0,
        version_id=params.version,
        product=params.product,
        purpose="operational" if operational else "on-request",
        key=running.job.id,
    )
    issued = run(tools.database, tools.clock, request, running.show)
    return {"runs": [{"run": one.id, "status": one.status, "t0": str(one.t0)} for one in issued]}


def evaluation(running: Running, params: EvaluationParams) -> dict[str, Any]:
    """Score a version."""
    import torch

    from operations.evaluate import evaluate

    tools = running.tools
    torch.set_num_threads(tools.settings.threads or 1)
    with tools.database.reading() as session:
        version = params.version or versions.newest(session).id
        basins = params.basins or promotions.basins_of(session, version)
    done = evaluate(tools.database, tools.clock, version, params.period, basins, running.show)
    count, low, median, high = done.quartiles("nse")
    return {
        "version": version,
        "nse": {"basins": count, "p25": low, "median": median, "p75": high},
        "worst_residual": done.worst_residual,
        "left_out": done.left_out,
    }


def pretrained(running: Running, params: PretrainedParams) -> dict[str, Any]:
    """Install a shipped ensemble, and let it serve the basins without a version where that is asked for."""
    from operations.pretrained import install, promote_where_vacant, read_shipped

    tools = running.tools
    shipped = read_shipped(params.name, tools.settings.pretrained)
    installed = install(tools.database, tools.clock, shipped, params.product)
    result = {"version": installed.version_id, **asdict(installed)}
    del result["version_id"]
    if not params.promote:
        return result
    promoted = promote_where_vacant(tools.database, tools.clock, installed.version_id)
    return result | {"promoted": list(promoted.basins), "left_out": promoted.left_out}


def comparison(running: Running, params: ComparisonParams) -> dict[str, Any]:
    """Hold versions against the first of them."""
    import torch

    from operations.compare import compare

    tools = running.tools
    torch.set_num_threads(tools.settings.threads or 1)
    done = compare(tools.database, tools.clock, params.versions, params.period, params.basins, running.show)
    kept = done.comparison
    return {"comparison": kept.id, "basins": len(kept.basins), "left_out": dict(kept.result.left_out)}


HANDLERS: dict[str, Handler] = {
    "ingest": ingest,
    "upload": upload,
    "training": training,
    "member": member,
    "forecast": forecast,
    "evaluation": evaluation,
    "comparison": comparison,
    "pretrained": pretrained,
}
