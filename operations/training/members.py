"""Trains the members of a training: one alone, or all side by side on a GPU."""

import gc
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog
import torch
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from jobspec.training import TrainingConfig
from models import checkpoint
from models.checkpoint import Tensors
from models.devices import GPUTooSmall, cores_in_use, gpu_faults, gpu_programs
from models.forcing import Scaler
from models.training import MemberTraining, Progress, TrainedMember
from operations.training import training_data
from operations.training.training_data import Prepared
from operations.versions.processes import machine
from records.database.engine import Database
from records.database.work import Work
from records.versions import trainings, versions

log = structlog.get_logger()

OnProgress = Callable[[Progress], None]
OnMemberProgress = Callable[[int, Progress], None]
"""Receives a member's label and its progress. An exception that it raises stops the training, which can be resumed."""


@dataclass(frozen=True, slots=True)
class StartedTraining:
    """A training that is under way (its version is None) or finished.

    Attributes:
        twin: the training of the version that will be scored for this one's.
        shares: the weights of the version, by basin, in one that combines it with others; None where it stands alone.
        combined: the combined version that the parent is part of.
    """

    training_id: str
    config: TrainingConfig
    prepared: Prepared
    version_id: str | None
    parent: versions.Version | None
    twin: str | None = None
    owner: str | None = None
    shares: Mapping[str, float] | None = None
    combined: str | None = None

    def trains_together(self, device: str | None = None) -> bool:
        """Return whether its members can be trained side by side on a device; None: on any GPU."""
        gpu = gpu_programs()
        return gpu is not None and gpu.trains_together(self.config, device)


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
        start = _starts(session, started, [member]).get(member)
    config, data, scaler, seed = started.config, started.prepared.data, scaler_of(started), _seed(started, member)
    learnt_from = _learnt_from(started)
    store = _Store(work, started, device)
    try:
        with gpu_faults(device):
            training = MemberTraining(config, data, scaler, seed, device, start=start, learnt_from=learnt_from)
            if saved is not None:
                training.resume(saved.content)
                log.info("train.resume", training=started.training_id, member=member, step=training.step)
            done = training.run(lambda step, blob: store.checkpoints(step, training.steps, {member: blob}), on_progress)
    except torch.OutOfMemoryError as error:
        raise _too_small(device) from error
    except DataProblem as problem:
        store.failure(problem)
        raise
    store.finished({member: done})


def train_together(
    work: Work, started: StartedTraining, device: str, on_progress: OnMemberProgress, on_split: Callable[[str], None]
) -> None:
    """Train the unfinished members side by side on a device, each from its newest checkpoint, and store them.

    Those at the same step form a group. A group that needs more memory than the device has is halved, and `on_split`
    gets a sentence on it.
    """
    groups = _by_step(work.database, started)
    while groups:
        group = groups.pop(0)
        if _fits(work, started, device, group, on_progress):
            continue
        if len(group) == 1:
            raise _too_small(device)
        gc.collect()  # of the group that did not fit
        torch.cuda.empty_cache()
        half = (len(group) + 1) // 2
        groups[:0] = [group[:half], group[half:]]
        sentence = (
            f"The memory of {device} does not suffice for {len(group)} members side by side: they are trained in "
            f"groups of {half} and {len(group) - half}."
        )
        log.warning("train.split", training=started.training_id, device=device, members=len(group))
        on_split(sentence)


def _by_step(database: Database, started: StartedTraining) -> list[Sequence[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    with database.reading() as session:
        for member in sorted(unfinished_members(session, started)):
            saved = trainings.checkpoint(session, started.training_id, member)
            groups[0 if saved is None else saved.step].append(member)
    return [groups[step] for step in sorted(groups, reverse=True)]


def _fits(
    work: Work, started: StartedTraining, device: str, group: Sequence[int], on_progress: OnMemberProgress
) -> bool:
    """Train members of the same step to the end. Return False if the memory of the device does not suffice."""
    store = _Store(work, started, device)
    by_seed = {_seed(started, member): member for member in group}
    with work.database.reading() as session:
        found = {seed: trainings.checkpoint(session, started.training_id, member) for seed, member in by_seed.items()}
        starts = {_seed(started, member): start for member, start in _starts(session, started, group).items()}
    saved = {seed: newest.content for seed, newest in found.items() if newest is not None}
    waiting: dict[int, bytes] = {}

    def save(seed: int, step: int, blob: bytes) -> None:
        """Store the checkpoints of all members at once, so that they resume at the same step."""
        waiting[by_seed[seed]] = blob
        if len(waiting) == len(group):
            store.checkpoints(step, training.steps, waiting)
            waiting.clear()

    try:
        with gpu_faults(device):
            gpu = gpu_programs()
            assert gpu is not None
            training = gpu.training(
                started.config,
                started.prepared.data,
                scaler_of(started),
                list(by_seed),
                device=device,
                learnt_from=_learnt_from(started),
                starts=starts,
            )
            if saved:
                training.resume(saved)
                log.info("train.resume", training=started.training_id, members=list(group), step=training.step)
            done = training.run(save, lambda seed, progress: on_progress(by_seed[seed], progress))
    except torch.OutOfMemoryError:
        return False
    except DataProblem as problem:
        store.failure(problem)
        raise
    store.finished({by_seed[seed]: trained for seed, trained in done.items()})
    return True


@dataclass(frozen=True, slots=True)
class _Store:
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
                member = _member(label, _seed(self.started, label), self.device, trained)
                trainings.finish_member(session, training, member, self.work.clock.wall())
        for label, trained in members.items():
            log.info("train.member", training=training, member=label, best_nse=best_nse(trained.log))

    def failure(self, problem: DataProblem) -> None:
        reason = absent(Reason.FAILED, message=str(problem))
        with self.work.database.transaction() as session:
            trainings.fail(session, self.started.training_id, reason, self.work.clock.wall())


def scaler_of(started: StartedTraining) -> Scaler:
    """Return the scaler of a training's inputs; of a fine-tuning, its parent's."""
    if started.parent is not None:  # the weights are meaningless under another scaler
        return Scaler.from_json(started.parent.scaler)
    return Scaler.fit(started.prepared.data.forcing.over(started.config.train_period))


def best_nse(log_rows: Sequence[dict[str, float]]) -> float | None:
    return max((row["validation_nse"] for row in log_rows), default=None)


def _learnt_from(started: StartedTraining) -> tuple[str, ...]:
    return training_data.learnt_from(started.parent, started.prepared.basins)


def _starts(session: Session, started: StartedTraining, members: Sequence[int]) -> dict[int, Tensors]:
    """Return the initial weights of members of a fine-tuning; none of a training from scratch."""
    parent = started.parent
    if parent is None:
        return {}
    return {member: training_data.start_of(session, parent, member, _learnt_from(started)) for member in members}


def _seed(started: StartedTraining, member: int) -> int:
    return started.config.seed + member


def _member(label: int, seed: int, device: str, trained: TrainedMember) -> versions.Member:
    weights: dict[versions.Which, bytes] = {"last": checkpoint.dump(trained.last, {})}
    if trained.best is not None:
        weights["best"] = checkpoint.dump(trained.best, {})
    effort = {"seconds": trained.seconds, "device": device, "threads": cores_in_use(), "machine": machine()}
    return versions.Member(label, seed, weights, {"validation": trained.log, **effort})


def _too_small(device: str) -> GPUTooSmall:
    return GPUTooSmall(
        f"The memory of {device} does not suffice for one member of this training: use the CPU, or a smaller "
        "`windows.batch`."
    )
