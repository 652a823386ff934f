"""Whole trainings in one call."""

from collections.abc import Sequence
from typing import Any

from jobspec.training import FineTuningConfig, TrainingConfig
from operations.training.assemble import Trained, assemble_all
from operations.training.train import OnMemberProgress, begin_all, train_members
from records.database.work import Work


def train(
    work: Work,
    config: TrainingConfig | FineTuningConfig,
    basins: Sequence[str],
    *,
    label: str | None = None,
    device: str = "cpu",
    on_progress: OnMemberProgress = lambda _member, _progress: None,
    **chosen: Any,
) -> Trained:
    """Train every member of a configuration on some basins, as `train_members` does, and create the version."""
    trainings = begin_all(work, config, basins)
    for one in trainings:
        train_members(work, one, device=device, on_progress=on_progress, **chosen)
    return assemble_all(work, trainings, label)[0]
