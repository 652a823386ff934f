"""Trains versions: starts a training, trains its members, assembles the version.

A training is identified by its request: the same request resumes from its checkpoints, and a finished one is returned.
Its members can be trained by different processes, or side by side on a GPU; the version is assembled when all are
finished. A fine-tuning is a training that starts from the weights of its parent, and by itself changes no basin's
version.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import structlog
import torch
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from jobspec.extensions import extensions
from jobspec.training import FineTuningConfig, TrainingConfig
from models import checkpoint
from models.devices import CPU, GPUTooSmall, cores_in_use, gpu_faults
from models.training import MemberTraining, Progress, TrainedMember
from operations.training import training_data
from operations.training.training_data import StartedTraining, best_nse, prepare
from operations.versions.processes import machine, processes_for, side_by_side
from records.database.base import JsonObject
from records.database.engine import Database
from records.database.work import Work
from records.versions import trainings, versions
from records.versions.version_properties import VersionPart
from runtime.clock import Clock
from runtime.settings import Settings

log = structlog.get_logger()

OnProgress = Callable[[Progress], None]
OnMemberProgress = Callable[[int, Progress], None]
"""Receives a member's label and its progress. An exception that it raises stops the training, which can be resumed."""


def unfinished_members(session: Session, started: StartedTraining) -> list[int]:
    """Return the labels of the members that have not finished, the slowest first."""
    finished = {member.label for member in trainings.finished_members(session, started.training_id)}
    return [member for member in started.config.slowest_first() if member not in finished]


def train_member(work: Work, started: StartedTraining, member: int, device: str, on_progress: OnProgress) -> None:
    """Train a member from its newest checkpoint to the end, and store it; skip a finished one."""
    with work.database.reading() as session:
        if member not in unfinished_members(session, started):
            return
        saved = trainings.checkpoint(session, started.training_id, member)
        start = started.first_weights(session, [member]).get(member)
    config, data, scaler, seed = started.config, started.prepared.data, started.scaler, started.seed(member)
    learnt_from = started.learnt_from
    store = TrainingStore(work, started, device)
    try:
        with gpu_faults(device):
            training = MemberTraining(config, data, scaler, seed, device, start=start, learnt_from=learnt_from)
            if saved is not None:
                training.resume(saved.content)
                log.info("train.resume", training=started.training_id, member=member, step=training.step)
            done = training.run(lambda step, blob: store.checkpoints(step, training.steps, {member: blob}), on_progress)
    except torch.OutOfMemoryError as error:
        raise too_small(device) from error
    except DataProblem as problem:
        store.failure(problem)
        raise
    store.finished({member: done})


@dataclass(frozen=True, slots=True)
class TrainingStore:
    """Stores what a training has reached, each time in one transaction."""

    work: Work
    started: StartedTraining
    device: str

    def checkpoints(self, step: int, steps: int, blobs: dict[int, bytes]) -> None:
        with self.work.database.transaction() as session:
            for member, blob in blobs.items():
                new = trainings.Checkpoint(member, step, blob, {"steps": steps}, self.work.clock.wall())
                trainings.save_checkpoint(session, self.started.training_id, new)

    def finished(self, members: dict[int, TrainedMember]) -> None:
        training = self.started.training_id
        with self.work.database.transaction() as session:
            for label, trained in members.items():
                weights: dict[versions.Which, bytes] = {"last": checkpoint.dump(trained.last, {})}
                if trained.best is not None:
                    weights["best"] = checkpoint.dump(trained.best, {})
                effort = {"seconds": trained.seconds, "device": self.device, "threads": cores_in_use()}
                logs = {"validation": trained.log, "curve": trained.curve, **effort, "machine": machine()}
                member = versions.Member(label, self.started.seed(label), weights, logs)
                trainings.finish_member(session, training, member, self.work.clock.wall())
        for label, trained in members.items():
            log.info("train.member", training=training, member=label, best_nse=best_nse(trained.log))

    def failure(self, problem: DataProblem) -> None:
        reason = absent(Reason.FAILED, message=str(problem))
        with self.work.database.transaction() as session:
            trainings.fail(session, self.started.training_id, reason, self.work.clock.wall())


def too_small(device: str) -> GPUTooSmall:
    return GPUTooSmall(
        f"The memory of {device} does not suffice for one member of this training: use the CPU, or a smaller "
        "`windows.batch`."
    )


class DataChanged(DataProblem):
    """The data differ from those that the training started with."""

    kind = "training-data-changed"


def train_members(
    work: Work,
    started: StartedTraining,
    *,
    device: str,
    on_progress: OnMemberProgress,
    on_split: Callable[[str], None] = lambda _sentence: None,
) -> None:
    """Train the unfinished members of a training; on a CPU in parallel, as many as the work may use cores.

    Args:
        on_progress: called with the member's label and its progress at every step; an exception that it raises stops
            the training, which the same call later resumes.
        on_split: called with a sentence where a GPU has too little memory for all members at once.

    Raises:
        GPULost, GPUTooSmall: the GPU cannot be used; the same call, on any device, continues.
    """
    if started.version_id is not None:
        return
    for extension in extensions():
        if extension.gpu_training and started.trains_together(device):
            extension.load(extension.gpu_training)(work, started, device, on_progress, on_split)
            return
    with work.database.reading() as session:
        members = unfinished_members(session, started)
    processes = processes_for(len(members), work.cores) if device == CPU else 1
    if processes > 1:
        apart = partial(_train_apart, work.settings, work.clock, started.training_id)
        side_by_side(apart, members, processes, on_progress, loads=__name__)
    else:
        for member in members:
            train_member(work, started, member, device, partial(on_progress, member))


def _train_apart(settings: Settings, clock: Clock, training_id: str, member: int, on_progress: OnProgress) -> None:
    work, started = _opened(settings, clock, training_id)
    train_member(work, started, member, CPU, on_progress)


@cache
def _opened(settings: Settings, clock: Clock, training_id: str) -> tuple[Work, StartedTraining]:
    work = Work.opened(settings, clock)
    return work, reopen(work.database, training_id)


def begin_all(
    work: Work, config: TrainingConfig | FineTuningConfig, basins: Sequence[str], owner: str | None = None
) -> list[StartedTraining]:
    """Start or resume a training; of each part, where the parent combines others."""
    parts: tuple[VersionPart, ...] = ()
    if isinstance(config, FineTuningConfig):
        with work.database.reading() as session:
            parts = versions.get(session, config.parent).combines
        if parts and owner is not None:
            raise InvalidInput(
                "An operator's versions are not combined, so a version that combines others can be fine-tuned by an "
                f"admin alone: name one of its parts ({', '.join(part.version for part in parts)})."
            )
        if parts:
            of_parts = [(config.model_copy(update={"parent": part.version}), part.weights) for part in parts]
            return [begin(work, one, basins, shares=own, combined=config.parent) for one, own in of_parts]
    return [begin(work, config, basins, owner=owner)]


def begin(
    work: Work,
    config: TrainingConfig | FineTuningConfig,
    basins: Sequence[str],
    twin: str | None = None,
    owner: str | None = None,
    shares: Mapping[str, float] | None = None,
    combined: str | None = None,
) -> StartedTraining:
    """Start or resume the training of a configuration on some basins; where none can be used, store nothing.

    `owner` is the operator's key that will own the version, None for the service's; the others are as in
    `StartedTraining`.
    """
    with work.database.reading() as session:
        parent = None
        if isinstance(config, FineTuningConfig):
            parent, config = training_data.whole(session, config)
        prepared = prepare(session, config, basins)
    request: dict[str, Any] = {
        "config": config.model_dump(mode="json"),
        "basins": list(prepared.basins),
        "data_hash": prepared.data_hash,
    }
    # Not its shares: the same networks can be part of several versions.
    origin = {"parent": None if parent is None else parent.id, "twin": twin, "owner": owner}
    request |= {name: value for name, value in origin.items() if value is not None}
    with work.database.transaction() as session:
        training = trainings.start(session, request, work.clock.wall())
    log.info("train.begin", training=training.id, basins=len(prepared.basins), left_out=len(prepared.left_out))
    version = training.version_id
    return StartedTraining(
        training.id, config, prepared, version, parent, twin, owner=owner, shares=shares, combined=combined
    )


def plan_of(started: Sequence[StartedTraining]) -> JsonObject:
    """Return trainings as JSON, of which `reopen_all` returns them, with why basins are left out."""
    left_out = {name: str(reason) for one in started for name, reason in one.prepared.left_out.items()}
    parts = [{"training": one.training_id, "shares": one.shares, "combined": one.combined} for one in started]
    return {"trainings": parts, "left_out": left_out}


def reopen_all(database: Database, plan: JsonObject) -> list[StartedTraining]:
    """Return the trainings of a plan, finished or not, with the errors of `reopen`."""
    return [reopen(database, one["training"], one["shares"], one["combined"]) for one in plan["trainings"]]


def reopen(
    database: Database, training_id: str, shares: Mapping[str, float] | None = None, combined: str | None = None
) -> StartedTraining:
    """Return a training that another process started; its shares and what combines it are not stored with it."""
    with database.reading() as session:
        training = trainings.get(session, training_id)
        request, version = training.request, training.version_id
        config = TrainingConfig.model_validate(request["config"])
        parent = versions.get(session, request["parent"]) if "parent" in request else None
        prepared = prepare(session, config, request["basins"])
    if prepared.data_hash != request["data_hash"]:
        raise DataChanged(
            f"The data of training {training_id} were revised since it began: start it again with the present data."
        )
    twin, owner = request.get("twin"), request.get("owner")
    return StartedTraining(
        training_id, config, prepared, version, parent, twin, owner=owner, shares=shares, combined=combined
    )
