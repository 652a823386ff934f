"""A GPU that no machine needs to have: what CUDA and `nvidia-smi` would do, by the content of a folder.

It stands for the hardware alone. Its memory is a number of members, and it computes on the CPU, one member after
another for some steps each, so that all are at one step as on a GPU.
"""

import os
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator, ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from extensions.gpu import programs, side_by_side
from jobspec.training import TrainingConfig
from models.checkpoint import Tensors
from models.forcing import Scaler
from models.training import MemberTraining, Progress, TrainedMember

SMI = f"""#!{sys.executable}
import pathlib, sys
if (pathlib.Path(__file__).parent / "lost").exists():
    print("Unable to determine the device handle for GPU0: GPU is lost.")
    sys.exit(15)
values = {{"uuid": "GPU-5eed", "name": "Test GPU"}}
values |= {{"memory.total": "2048", "memory.used": "512", "utilization.gpu": "25"}}
fields = next(argument for argument in sys.argv if argument.startswith("--query-gpu=")).partition("=")[2]
print(", ".join(values[field] for field in fields.split(",")))
"""


class FakeGPU:
    """A GPU in a folder, which is put on the PATH of the processes that are to find it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def build(cls, folder: Path, *, members: int = 100) -> "FakeGPU":
        """Create one in a new folder, whose memory holds a number of members."""
        folder.mkdir()
        (folder / "members").write_text(str(members))
        (folder / "nvidia-smi").write_text(SMI)
        (folder / "nvidia-smi").chmod(stat.S_IRWXU)
        return cls(folder)

    @classmethod
    def of_path(cls) -> "FakeGPU":
        """Return the one that is the first folder of the PATH."""
        return cls(Path(os.environ["PATH"].split(os.pathsep)[0]))

    @property
    def path(self) -> str:
        """The PATH that leads to it."""
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    @property
    def members(self) -> int:
        """The number of members that its memory holds."""
        return int((self.folder / "members").read_text())

    def lose(self) -> None:
        """Fail from the next step on."""
        (self.folder / "lost").touch()

    def require_works(self) -> None:
        """Raise what torch raises where a GPU fails."""
        if (self.folder / "lost").exists():
            raise torch.AcceleratorError("CUDA error: unspecified launch failure")


class FakeMembersTraining:
    """The training of members side by side on such a GPU, in place of `MembersTraining`."""

    def __init__(
        self,
        config: TrainingConfig,
        data: Any,
        scaler: Scaler,
        seeds: Sequence[int],
        device: str,
        learnt_from: Sequence[str] = (),
        starts: Mapping[int, Tensors] | None = None,
    ) -> None:
        assert device.startswith("cuda")
        self._gpu = FakeGPU.of_path()
        self._gpu.require_works()
        if len(seeds) > self._gpu.members:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self._every, self._seeds = config.checkpoint_every, seeds
        self._blobs: dict[int, bytes] = {}
        given = starts or {}

        def new(seed: int) -> MemberTraining:
            return MemberTraining(config, data, scaler, seed, start=given.get(seed), learnt_from=learnt_from)

        self._new = new
        self.step, self.steps = 0, new(seeds[0]).steps

    def resume(self, blobs: Mapping[int, bytes]) -> None:
        """Resume from checkpoints of the same step, by seed."""
        self._blobs = dict(blobs)
        steps = {self._member(seed).step for seed in self._seeds}
        assert len(steps) == 1, "they are at different steps"
        self.step = steps.pop()

    def run(
        self, on_checkpoint: Callable[[int, int, bytes], None], on_progress: Callable[[int, Progress], None]
    ) -> dict[int, TrainedMember]:
        """Train to the end, and return the members by seed."""
        trained: dict[int, TrainedMember] = {}
        while self.step < self.steps:
            self._gpu.require_works()
            self.step = min(self.steps, self.step + self._every)
            reached = {seed: self._advance(seed, trained) for seed in self._seeds}
            try:
                for seed, progress in reached.items():
                    on_progress(seed, progress)
            finally:
                for seed in self._seeds:
                    on_checkpoint(seed, self.step, self._blobs[seed])
        return trained

    def _member(self, seed: int) -> MemberTraining:
        member = self._new(seed)
        if seed in self._blobs:
            member.resume(self._blobs[seed])
        return member

    def _advance(self, seed: int, trained: dict[int, TrainedMember]) -> Progress:
        """Train a member to the present step."""
        reached: list[Progress] = []

        def save(_step: int, blob: bytes) -> None:
            self._blobs[seed] = blob

        def stop(progress: Progress) -> None:
            reached.append(progress)
            if progress.step == self.step < self.steps:
                raise _PauseError

        with suppress(_PauseError):
            trained[seed] = self._member(seed).run(save, stop)
        return reached[-1]


class _PauseError(Exception):
    """A member has reached the step at which the others follow."""


class _InUse(ContextDecorator):
    """Let the trainings of a process use the GPU of its PATH."""

    def __enter__(self) -> None:
        self._patches = ExitStack()
        self._patches.enter_context(patch.object(side_by_side, "MembersTraining", FakeMembersTraining))
        self._patches.enter_context(patch.object(programs, "available", lambda device: device.type == "cuda"))

    def __exit__(self, *_failure: object) -> None:
        self._patches.close()


fake_gpu = _InUse()
