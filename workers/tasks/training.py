"""Handlers of jobs that create model versions."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hydrology.base.absent import Absent, texts
from hydrology.base.errors import DataProblem, counted
from jobspec.jobs import training as requests
from jobspec.jobs.base import JobRequest
from jobspec.training import TrainingConfig
from models.devices import CPU, GPULost, GPUTooSmall
from models.pretrained.combination import Combination
from models.pretrained.form import Ensemble
from models.training import Progress
from operations.basin_data.basins import chosen_to_learn_from
from operations.training import retrain, train
from operations.training.assemble import assemble_all
from operations.training.pretrained import derive_means, install, promote_where_vacant, read_shipped, usual_name
from operations.training.promotion_rule import decide, require_decidable
from operations.training.training_data import StartedTraining, whole
from operations.upkeep import audit_details
from records.database.base import JsonObject, to_json
from records.database.stored import as_values
from records.jobs import attempts, jobs, process_heartbeats
from records.versions import versions
from workers.job import JobRun, Waiting

MEMBER_ATTEMPTS = 10  # each continues from the newest checkpoint; a worker may be lost every few days
GPU_ATTEMPTS = 3  # then CPUs continue
GPU_FAULTS = (GPULost.kind, GPUTooSmall.kind, attempts.NO_GPU_WORKER, *attempts.OF_ATTEMPTS)
MEMBER, MEMBERS = (job.model_fields["kind"].default for job in (requests.MemberJob, requests.MembersJob))


def training(running: JobRun, params: requests.TrainingParams) -> dict[str, Any]:
    """Train an ensemble: post jobs that train its members, then, when all have ended, assemble the version.

    With `compare` the version is compared with the current ones, and replaces them only by the promotion rule.
    """
    work, rule, plan = running.work, params.compare, running.job.plan
    if plan is None:
        with work.database.reading() as session:
            basins = chosen_to_learn_from(session, params.basins, running.grant.owner)
            if not running.grant.is_official:
                config = params.config
                whole_config = config if isinstance(config, TrainingConfig) else whole(session, config)[1]
                requests.require_memory(whole_config, work.settings.operator_job_bytes)
            if rule is not None:
                require_decidable(session, params.config, rule)
        works = train.begin_all(work, params.config, basins, owner=running.grant.owner)
        plan = train.plan_of(works)
        _store_plan(running, plan)
    else:
        works = train.reopen_all(work.database, plan)
    _have_trained(running, *works)
    trained, _ = assemble_all(work, works, params.label)
    if trained.refused is not None:
        running.log(trained.refused)
    with work.database.reading() as session:
        stored = versions.get(session, trained.version_id).label
    if params.label not in (None, stored):
        old = "no label" if stored is None else f"the label {stored!r}"
        running.log(f"Version {trained.version_id} existed before and retains {old}: a label names only new versions.")
    result = {"version": trained.version_id, "basins": len(trained.basins), "left_out": plan["left_out"]}
    result |= as_values(trained, "version_id", "training_id", "basins", "left_out", "refused")
    if rule is None:
        return result
    decision = decide(work, trained.version_id, rule, refused=trained.refused)
    running.log(f"{decision.sentence} Basins that use it from now on: {', '.join(decision.promoted) or 'none'}.")
    return result | {"decision": to_json(decision)}


def retraining(running: JobRun, params: requests.RetrainingParams) -> dict[str, Any]:
    """Train a season's candidate and its twin, and decide which version to use."""
    work = running.work
    with work.database.reading() as session:
        plan = running.job.plan
        season = None if plan else retrain.season(session, params)
    if isinstance(season, Absent):
        running.log(str(season))
        return {"version": None, "reason": str(season)}
    if season is None:
        assert plan is not None
        trainings = retrain.with_twins(work.database, train.reopen_all(work.database, plan))
    else:
        trainings = retrain.begin_all(work, season)
        _store_plan(running, train.plan_of([candidate for _, candidate in trainings]))
    _have_trained(running, *(one for both in trainings for one in both))

    done = retrain.conclude(work, trainings, params, label=params.label)
    running.log(done.decision.sentence)
    return {
        "version": done.trained.version_id,
        "twin": done.twin_id,
        "basins": len(done.trained.basins),
        "left_out": texts(done.trained.left_out),
        "decision": to_json(done.decision),
    }


def _store_plan(running: JobRun, plan: JsonObject) -> None:
    """Store the trainings of a job: once they are started, they do not change, whatever data arrive meanwhile."""
    with running.work.database.transaction() as session:
        running.store_plan(session, plan)


def _have_trained(running: JobRun, *works: StartedTraining) -> None:
    """Train the members of some trainings: here, or by jobs that are posted and waited for.

    Where a GPU could not finish a training, its members are posted one by one, for CPUs, and continue.
    """
    unfinished = [training for training in works if training.version_id is None]
    if running.works_alone:
        for training in unfinished:
            _train_members(running, training)
        return
    with running.work.database.reading() as session:
        children = jobs.children(session, running.job.id)
    if unfinished and not children:
        for reason in unfinished[0].prepared.left_out.values():
            running.log(f"Left out: {reason}")
        with running.work.database.reading() as session:
            on_gpus = process_heartbeats.gpu_workers(process_heartbeats.live_processes(session)) > 0
        _post(running, unfinished, on_gpus)
        raise Waiting
    if any(child.status not in jobs.ENDED for child in children):  # the worker that posted them was lost
        raise Waiting
    alone = {child.params["training"] for child in children if child.kind == MEMBER}
    lost = {child.params["training"]: child.problem for child in children if _is_of_gpu(child)}
    if left := [training for training in unfinished if training.training_id in lost.keys() - alone]:
        for training in left:
            problem = lost[training.training_id] or {}
            running.log(f"The members continue one by one on CPU workers: {problem['detail']}")
        _post(running, left)
        raise Waiting
    if failures := [child for child in children if child.status in ("failed", "cancelled") and not _is_of_gpu(child)]:
        reason = (failures[0].problem or {}).get("detail", failures[0].status)
        raise DataProblem(f"{len(failures)} of {len(children)} jobs that train members failed: {reason}")


def _is_of_gpu(child: jobs.Job) -> bool:
    return child.kind == MEMBERS and child.status == "failed" and (child.problem or {}).get("kind") in GPU_FAULTS


def _post(running: JobRun, works: Sequence[StartedTraining], on_gpus: bool = False) -> None:
    """Post a job for all members of a training that suits a GPU, otherwise one for each member; all or none.

    The worker sends them when this job waits.
    """
    job = running.job
    posted: list[tuple[JobRequest, int]] = []
    for training in works:
        name, members = training.training_id, training.config.members
        if on_gpus and training.trains_together():
            of_all = requests.MembersParams(training=name, members=members)
            posted.append((requests.MembersJob(params=of_all), GPU_ATTEMPTS))
        else:
            of_members = [requests.MemberParams(training=name, member=member) for member in range(members)]
            posted += [(requests.MemberJob(params=params), MEMBER_ATTEMPTS) for params in of_members]
    with running.work.database.transaction() as session:
        jobs.hold(session, job.id, job.attempt)
        for request, attempts in posted:
            new = jobs.NewJob(
                kind=request.kind, params=request.stored(), queue=request.queue, parent_id=job.id, max_attempts=attempts
            )
            jobs.create(session, new, running.work.clock.wall())


def member(running: JobRun, params: requests.MemberParams) -> dict[str, Any]:
    """Train one member, from its newest checkpoint if there is one. If the worker's GPU fails, the CPU continues."""
    work = running.work

    def show(progress: Progress) -> None:
        running.show(progress.step, progress.steps, _in_words(progress))

    training = train.reopen(work.database, params.training)
    if training.version_id is None:
        try:
            train.train_member(work, training, params.member, work.settings.device, show)
        except (GPULost, GPUTooSmall) as problem:
            running.log(f"The member continues on the CPU: {problem}")
            train.train_member(work, training, params.member, CPU, show)
    return {"training": training.training_id, "member": params.member}


def members(running: JobRun, params: requests.MembersParams) -> dict[str, Any]:
    """Train the unfinished members of a training on the worker's GPU, from their newest checkpoints."""
    training = train.reopen(running.work.database, params.training)
    if training.version_id is None:
        _train_members(running, training)
    return {"training": training.training_id, "members": params.members}


def _train_members(running: JobRun, training: StartedTraining) -> None:
    work = running.work
    with work.database.reading() as session:
        steps = dict.fromkeys(train.unfinished_members(session, training), 0)
    members = training.config.members
    finished = members - len(steps)

    def show(member: int, progress: Progress) -> None:
        steps[member] = progress.step
        done = finished * progress.steps + sum(steps.values())
        running.show(done, members * progress.steps, f"member {member}: {_in_words(progress)}")

    train.train_members(work, training, device=work.settings.device, on_progress=show, on_split=running.log)


def _in_words(progress: Progress) -> str:
    loss, score = f"loss {progress.loss:.4f}", progress.validation
    if score is None:
        return loss
    return f"{loss}, median validation NSE {score.value:.3f} over {counted(score.basins, 'basin')}"


def pretrained(running: JobRun, params: requests.PretrainedParams) -> dict[str, Any]:
    """Install a shipped ensemble. With `promote` it becomes current for basins without a version."""
    work = running.work
    shelf, name = work.settings.pretrained, params.name
    if name is None:
        with work.database.reading() as session:
            name = usual_name(session, params.product, shelf)
    ensemble = read_shipped(name, shelf)
    if params.product is None:
        _derive_means(running, ensemble)
    installation = asdict(install(work, ensemble, params.product))
    version, product, learnt_from = installation.pop("version_id"), installation["product"], installation["trained_on"]
    if installation["already"]:
        running.log(f"Nothing changed: {installation['name']} is installed already, as version {version}.")
    if product != learnt_from:
        running.log(f"It learnt from {learnt_from} and will be driven by {product}: its forecasts state this.")
    result = {"version": version, **installation}
    if not params.promote:
        return result
    promotion = promote_where_vacant(work, version)
    promoted = {"promoted": list(promotion.basins), "promoted_before": list(promotion.already)}
    return result | promoted | {"left_out": texts(promotion.left_out)}


def _derive_means(running: JobRun, ensemble: Ensemble | Combination) -> None:
    """Derive the means of products that an ensemble takes, and report what that changed."""
    for fused, outcomes in derive_means(running.work, ensemble):
        running.record("weather fused", fused.product, of=list(fused.parts), **audit_details.changes(outcomes))
        if changed := sum(one.status == "changed" for one in outcomes):
            basins = counted(changed, "basin")
            running.log(f"{fused.product}, the mean of {' and '.join(fused.parts)}, was derived in {basins}.")
        for failed in (one for one in outcomes if one.error is not None):
            running.log(f"{fused.product} could not be derived in {failed.basin}: {failed.error}")
