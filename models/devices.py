"""The cores and the device that a process computes on, and the programs of an extension that compute on GPUs."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import structlog

from hydrology.base.errors import Problem
from jobspec.extensions import extensions

_cores = 1


def use_cores(count: int) -> None:
    """Let this process compute up to `count` blocks of basins in parallel. Results do not depend on it."""
    global _cores  # noqa: PLW0603 - a property of the process, as torch's own number of threads
    _cores = count


def cores_in_use() -> int:
    """Return the number of blocks that this process computes in parallel. 1 by default."""
    return _cores


if TYPE_CHECKING:
    from jobspec.training import TrainingConfig
    from models.contract import Inputs, Network, Outputs, State
    from models.ensemble import ArrayMap
    from models.nets.buckets import Buckets

log = structlog.get_logger()

CPU = "cpu"
NEEDS_EXTENSION = "GPUs need the extension gpu: let FRESHET_EXTENSIONS name it, or use the CPU."

_device = CPU


class GPULost(Problem):
    """A GPU cannot be used, or failed during the work."""

    kind = "gpu-lost"
    exit_code = 5


class GPUTooSmall(Problem):
    """The memory of a GPU does not suffice even for the smallest part of the work."""

    kind = "gpu-too-small"
    exit_code = 5


class GPUPrograms(Protocol):
    """What an extension computes on GPUs. Its want of memory is a `torch.OutOfMemoryError`."""

    def devices(self) -> Sequence[str]:
        """Return torch's names of the GPUs of this machine: `cuda`, `cuda:0`, ..."""

    def faults(self, device: str) -> AbstractContextManager[None]:
        """Raise errors of a GPU as `GPULost`; other errors pass unchanged."""

    def lacking(self) -> str | None:
        """Return what its kernels lack on the GPU in use; None where they run."""

    def runs(self, network: "Network") -> bool:
        """Return whether `run` and `simulate` take a network; others compute by torch's operations."""

    def run(self, network: "Network", inputs: "Inputs", state: "State") -> "tuple[Outputs, State]":
        """Do what the network's `forward` does."""

    def buckets(self, network: "Buckets") -> ModuleType | None:
        """Return what runs the days of buckets, as `models.nets.bucket_scan` does; None where that is to run them."""

    def simulate(
        self,
        networks: "Sequence[Network]",
        inputs: "Inputs",
        states: "Sequence[ArrayMap] | None",
        wanted: Sequence[str],
    ) -> "Iterator[tuple[ArrayMap, ArrayMap]]":
        """Run networks of one structure at once, from a state each; yield outputs and last state of each."""

    def trains_together(self, config: "TrainingConfig", device: str | None = None) -> bool:
        """Return whether the members of a training can be trained side by side on a device; None: on any GPU."""


@cache
def gpu_programs() -> GPUPrograms | None:
    """Return the programs of an extension that compute on GPUs; None without such an extension."""
    return next((extension.load(extension.gpu_programs) for extension in extensions() if extension.gpu_programs), None)


def use_device(device: str) -> None:
    """Let this process simulate on a device: `cpu`, or a CUDA device such as `cuda:0`."""
    global _device  # noqa: PLW0603 - a property of the process, as its number of cores
    _device = device


def device_in_use() -> str:
    """Return the device that this process simulates on. `cpu` by default.

    A device that this machine lacks is replaced by the CPU, with a warning: forecasts do not wait for a GPU.
    """
    if _device != CPU and _device not in available():
        log.warning("device.unavailable", device=_device, used=CPU)
        use_device(CPU)
    return _device


def available() -> list[str]:
    """Return the devices of this machine that can be used: `cpu`, `cuda`, `cuda:0`, ..."""
    programs = gpu_programs()
    return [CPU, *([] if programs is None else programs.devices())]


def gpu_faults(device: str) -> AbstractContextManager[None]:
    """Raise errors of a GPU as `GPULost`, on a CPU never; other errors pass unchanged.

    Lack of memory stays a `torch.OutOfMemoryError`.
    """
    if device == CPU:
        return nullcontext()
    programs = gpu_programs()
    if programs is None:
        raise GPULost(f"The device {device} cannot be used: {NEEDS_EXTENSION}")
    return programs.faults(device)
