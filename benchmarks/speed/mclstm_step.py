"""One training step of MC-LSTM (forward and backward) beside neuralhydrology's cell.

256 samples x 365 days x 64 cells, 4 auxiliaries and 27 statics, float32, 2 threads. Times: both in one process,
in turn, and the median of the paired ratios. Memory: the peak of a fresh process above what it held after the
imports.
"""

import statistics
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.speed.steps import AUXILIARY, STATIC, Step, drivers
from benchmarks.speed.steps import seconds as clocked
from models.nets.mclstm import MCLSTM

SAMPLES, DAYS, CELLS = 256, 365, 64
THREADS, PAIRS = 2, 5


def measure() -> dict[str, Any]:
    """Return times, memory and their ratios."""
    memory = {name: _memory_of(name) for name in ("ours", "neuralhydrology")}
    torch.set_num_threads(THREADS)
    steps = {"ours": ours(), "neuralhydrology": reference()}
    for step in steps.values():
        step()
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(PAIRS):
        for name, step in steps.items():
            seconds[name].append(clocked(step))
    paired = [peer / own for own, peer in zip(seconds["ours"], seconds["neuralhydrology"], strict=True)]
    return {
        "shape": f"{SAMPLES} samples x {DAYS} days x {CELLS} cells, {THREADS} threads",
        "seconds": {name: statistics.median(values) for name, values in seconds.items()},
        "memory_mib": memory,
        "ratios": {
            "neuralhydrology_over_ours": statistics.median(paired),
            "memory_ours_over_neuralhydrology": memory["ours"] / memory["neuralhydrology"],
        },
        "spread": {"neuralhydrology_over_ours": [min(paired), max(paired)], "pairs": PAIRS},
    }


def ours() -> Step:
    """Return a training step of our network."""
    network = MCLSTM(AUXILIARY, STATIC, CELLS)
    inputs = drivers(SAMPLES, DAYS)

    def step() -> None:
        network.zero_grad()
        network(inputs)[0]["discharge"].square().mean().backward()

    return step


def reference() -> Step:
    """Return a training step of neuralhydrology's cell, which takes the statics at every step."""
    from neuralhydrology.modelzoo.mclstm import _MCLSTMCell

    cell = _MCLSTMCell(1, AUXILIARY + STATIC, CELLS, SimpleNamespace(initial_forget_bias=-3.0))
    inputs = drivers(SAMPLES, DAYS)
    features = torch.cat([inputs.auxiliary, inputs.static.expand(DAYS, SAMPLES, STATIC)], -1)

    def step() -> None:
        cell.zero_grad()
        outflow, _ = cell(inputs.mass, features)
        outflow[..., 1:].sum(-1).square().mean().backward()

    return step


def _memory_of(name: str) -> float:
    """Return the MiB that two steps take in a process of their own."""
    command = [sys.executable, "-m", "benchmarks.speed.mclstm_step", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def _peak_mib() -> float:
    """Return the peak of this process alone (`ru_maxrss` begins with that of the process it came from)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    if sys.argv[1] == "neuralhydrology":
        import neuralhydrology.modelzoo.mclstm  # noqa: F401 - counted among the imports
    before = _peak_mib()
    chosen = {"ours": ours, "neuralhydrology": reference}[sys.argv[1]]()
    chosen()
    chosen()
    print(_peak_mib() - before)
