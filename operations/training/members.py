"""A training under way, and the training of one of its members."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
import torch
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from models import checkpoint
from models.devices import GPUTooSmall, cores_in_use, gpu_faults
from models.training import MemberTraining, Progress, TrainedMember
from operations.training.training_data import StartedTraining
from operations.versions.processes import machine
from records.database.work import Work
from records.versions import trainings, versions

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
                member = _member(label, self.started.seed(label), self.device, trained)
                trainings.finish_member(session, training, member, self.work.clock.wall())
        for label, trained in members.items():
            log.info("train.member", training=training, member=label, best_nse=best_nse(trained.log))

    def failure(self, problem: DataProblem) -> None:
        reason = absent(Reason.FAILED, message=str(problem))
        with self.work.database.transaction() as session:
            trainings.fail(session, self.started.training_id, reason, self.work.clock.wall())


def best_nse(log_rows: Sequence[dict[str, float]]) -> float | None:
    return max((row["validation_nse"] for row in log_rows), default=None)


def _member(label: int, seed: int, device: str, trained: TrainedMember) -> versions.Member:
    weights: dict[versions.Which, bytes] = {"last": checkpoint.dump(trained.last, {})}
    if trained.best is not None:
        weights["best"] = checkpoint.dump(trained.best, {})
    effort = {"seconds": trained.seconds, "device": device, "threads": cores_in_use(), "machine": machine()}
    return versions.Member(label, seed, weights, {"validation": trained.log, **effort})


def too_small(device: str) -> GPUTooSmall:
    return GPUTooSmall(
        f"The memory of {device} does not suffice for one member of this training: use the CPU, or a smaller "
        "`windows.batch`."
    )
