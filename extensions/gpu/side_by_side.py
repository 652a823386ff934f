"""Trains the unfinished members of a training side by side on a GPU, in groups that its memory holds."""

import gc
from collections import defaultdict
from collections.abc import Callable, Sequence

import structlog
import torch

from extensions.gpu.members_training import MembersTraining
from hydrology.base.errors import DataProblem
from models.devices import gpu_faults
from operations.training.train import (
    OnMemberProgress,
    TrainingStore,
    too_small,
    unfinished_members,
)
from operations.training.training_data import StartedTraining
from records.database.engine import Database
from records.database.work import Work
from records.versions import trainings

log = structlog.get_logger()


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
            raise too_small(device)
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
    store = TrainingStore(work, started, device)
    by_seed = {started.seed(member): member for member in group}
    with work.database.reading() as session:
        found = {seed: trainings.checkpoint(session, started.training_id, member) for seed, member in by_seed.items()}
        starts = {started.seed(member): start for member, start in started.first_weights(session, group).items()}
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
            training = MembersTraining(
                started.config,
                started.prepared.data,
                started.scaler,
                list(by_seed),
                device=device,
                learnt_from=started.learnt_from,
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
