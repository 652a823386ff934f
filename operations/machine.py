"""What computes, in words: seconds are only worth comparing on one kind of machine."""

import os
import platform
from pathlib import Path

import torch

from models.nets.compiled import loader


def machine() -> str:
    """Return the number of processors, their model and what their vector unit can do."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, {torch.backends.cpu.get_cpu_capability()}"


def program() -> str:
    """Return what the last digits of a result depend on: torch's version, its vector unit, and what runs MC-LSTM."""
    torch_program = f"torch {torch.__version__} for {torch.backends.cpu.get_cpu_capability()}"
    return f"{torch_program}, recurrence {loader.program()}"
