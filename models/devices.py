"""The device that a process computes on, and the faults of a GPU."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from hydrology.base.errors import Problem, excerpt

log = structlog.get_logger()

CPU = "cpu"
CUDA = "cuda"
"""The first GPU; the name of any begins like this."""
_OF_GPU = re.compile("cuda|cudnn|cublas|nvidia|nvrtc", re.IGNORECASE)
_OF_MEMORY = re.compile("out of memory|alloc_failed", re.IGNORECASE)

_device = CPU


class GPULost(Problem):
    """A GPU cannot be used, or failed during the work."""

    kind = "gpu-lost"
    exit_code = 5


class GPUTooSmall(Problem):
    """The memory of a GPU does not suffice even for the smallest part of the work."""

    kind = "gpu-too-small"
    exit_code = 5


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
    """Return the devices of this machine that torch can use: `cpu`, `cuda`, `cuda:0`, ..."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [CPU, *([CUDA] if count else []), *(f"{CUDA}:{number}" for number in range(count))]


@contextmanager
def gpu_faults(device: str) -> Iterator[None]:
    """Raise errors of a GPU as `GPULost`, on a CPU never; other errors pass unchanged.

    Lack of memory stays a `torch.OutOfMemoryError`.
    """
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, AssertionError) as error:  # without CUDA, torch asserts
        if device == CPU or not (isinstance(error, torch.AcceleratorError) or _OF_GPU.search(str(error))):
            raise
        if _OF_MEMORY.search(str(error)):  # of CUDA's libraries, not of torch's allocator
            raise torch.OutOfMemoryError(str(error)) from error
        raise GPULost(
            f"The device {device} cannot be used ({excerpt(error)}): see that this machine has it and that its driver "
            "works, or use the CPU."
        ) from error
