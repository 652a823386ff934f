"""Trains members of one configuration side by side in one program on a device."""

from collections.abc import Callable, Mapping, Sequence

from jobspec.network import EINSConfig, LSTMConfig, MCLSTMConfig
from jobspec.training import TrainingConfig
from models.checkpoint import Tensors
from models.devices import CPU
from models.scaling import Scaler
from models.training import Progress, TrainedMember, TrainingData

TOGETHER = (MCLSTMConfig, LSTMConfig, EINSConfig)


def trains_together(config: TrainingConfig, device: str) -> bool:
    """Return whether the members of a configuration can be trained side by side on a device."""
    return device != CPU and isinstance(config.network, TOGETHER)


class MembersTraining:
    """The training of several members side by side."""

    step: int
    steps: int

    def __init__(
        self,
        config: TrainingConfig,
        data: TrainingData,
        scaler: Scaler,
        seeds: Sequence[int],
        device: str,
        learnt_from: Sequence[str] = (),
        starts: Mapping[int, Tensors] | None = None,
    ) -> None:
        raise NotImplementedError

    def resume(self, blobs: Mapping[int, bytes]) -> None:
        """Resume from checkpoints of the same step, by seed."""
        raise NotImplementedError

    def run(
        self, on_checkpoint: Callable[[int, int, bytes], None], on_progress: Callable[[int, Progress], None]
    ) -> dict[int, TrainedMember]:
        """Train to the end, and return the members by seed."""
        raise NotImplementedError
