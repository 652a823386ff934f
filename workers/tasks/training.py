"""Handlers of jobs that create model versions."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hydrology.base.absent import Absent, texts
from hydrology.base.errors import DataProblem
from jobspec.jobs.training import MemberJob, MemberParams, PretrainedParams, RetrainingParams, TrainingParams
from records.database.json_columns import to_json
from records.jobs import jobs
from workers.job import Running, Waiting

if TYPE_CHECKING:
    from operations.training.train import StartedTraining


MEMBER_ATTEMPTS = 10  # each continues from the newest checkpoint; a worker may be lost every few days


def training(running: Running, params: TrainingParams) -> dict[str, Any]:
    """Train an ensemble: post a child job for each member, then, when all have ended, assemble the version.

    With `compare` the version is compared with the current ones, and replaces them only by the promotion rule.
    """
    from operations.basin_data.basins import chosen
    from operations.training.promotion_rule import decide, require_decidable
    from operations.training.train import assemble, begin

    tools, rule = running.tools, params.compare
    with tools.database.reading() as session:
        basins = chosen(session, params.basins)
        if rule is not None:
            require_decidable(session, params.config, rule)
    work = begin(tools.database, tools.clock, params.config, basins, owner=running.grant.owner)
    _have_trained(running, work)
    trained = assemble(tools.database, tools.clock, work, params.label)
    if trained.refused is not None:
        running.log(trained.refused)
    result = {"version": trained.version_id, "basins": len(trained.basins), "left_out": texts(trained.left_out)}
    if rule is None:
        return result
    decision = decide(tools.database, tools.clock, trained.version_id, rule, running.show)
    running.log(decision.sentence)
    return result | {"decision": to_json(decision)}


def retraining(running: Running, params: RetrainingParams) -> dict[str, Any]:
    """Train a season's candidate and its twin, and decide which version to use."""
    from operations.training import retrain

    tools = running.tools
    with tools.database.reading() as session:
        children = jobs.children(session, running.job.id)
        season = None if children else retrain.season(session, params)
    if isinstance(season, Absent):
        running.log(str(season))
        return {"version": None, "reason": str(season)}
    # Once members are posted, the trainings do not change, whatever data arrive meanwhile.
    twin, candidate = (
        retrain.reopen_both(tools.database, [child.params["training"] for child in children])
        if season is None
        else retrain.begin_both(tools.database, tools.clock, season)
    )
    _have_trained(running, twin, candidate)

    def show(step: str, done: int, total: int) -> None:
        running.show(done, total, step)

    done = retrain.conclude(tools.database, tools.clock, twin, candidate, params, label=params.label, on_step=show)
    running.log(done.decision.sentence)
    return {
        "version": done.trained.version_id,
        "twin": done.twin_id,
        "basins": len(done.trained.basins),
        "left_out": texts(done.trained.left_out),
        "decision": to_json(done.decision),
    }


def _have_trained(running: Running, *works: "StartedTraining") -> None:
    """Post a job for each member of some trainings and wait for them. Return once all have succeeded.

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


def _post_members(running: Running, works: Sequence["StartedTraining"]) -> None:
    """Post a job for each member, all or none. The worker sends them when this job waits."""
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
    from operations.training.train import reopen, train_member

    tools = running.tools

    def show(progress: Progress) -> None:
        running.show(progress.step, progress.steps, f"loss {progress.loss:.4f}")

    work = reopen(tools.database, params.training)
    if work.version_id is None:
        train_member(tools.database, tools.clock, work, params.member, tools.settings.device, show)
    return {"training": work.training_id, "member": params.member}


def pretrained(running: Running, params: PretrainedParams) -> dict[str, Any]:
    """Install a shipped ensemble. With `promote` it becomes current for basins without a version."""
    from operations.training.pretrained import install, promote_where_vacant, read_shipped

    tools = running.tools
    ensemble = read_shipped(params.name, tools.settings.pretrained)
    installation = asdict(install(tools.database, tools.clock, ensemble, params.product))
    version = installation.pop("version_id")
    result = {"version": version, **installation}
    if not params.promote:
        return result
    promotion = promote_where_vacant(tools.database, tools.clock, version)
    promoted = {"promoted": list(promotion.basins), "promoted_before": list(promotion.already)}
    return result | promoted | {"left_out": texts(promotion.left_out)}
