"""Describes the hardware and program.

Run times compare only on one kind of machine."""

import os
import platform
import resource
import sys
from pathlib import Path

import torch

from models.devices import CPU, device_in_use
from models.nets.compiled import loader


def machine() -> str:
    """Describe the number of processors, their model and their vector unit."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, {torch.backends.cpu.get_cpu_capability()}"


def program() -> str:
    """Describe the versions that affect a result's last digits.

    Torch, GPU or vector unit, MC-LSTM recurrence."""
    device = device_in_use()
    if device != CPU:
        return f"torch {torch.__version__} on {torch.cuda.get_device_name(device)}"
    torch_program = f"torch {torch.__version__} for {torch.backends.cpu.get_cpu_capability()}"
    return f"{torch_program}, recurrence {loader.program()}"


def memory_in_use() -> int:
    """Return the peak memory of this process in bytes."""
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024


def available_memory() -> int | None:
    """Return the memory available to new processes in bytes.

    Return None where the system does not report it.

    The limit of the container counts too (Linux)."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    fields = dict(line.split(":", 1) for line in info.read_text().splitlines())
    return min([int(fields["MemAvailable"].split()[0]) * 1024, *_room_of_container()])


def _room_of_container() -> list[int]:
    limit, used = (Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory.current"))
    if not limit.exists() or not used.exists() or limit.read_text().strip() == "max":
        return []
    return [int(limit.read_text()) - int(used.read_text())]
