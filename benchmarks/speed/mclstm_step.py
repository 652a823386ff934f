"""One training step of MC-LSTM (forward and backward) beside three peers.

256 samples x 365 days, 4 auxiliaries and 27 statics, 2 threads. Ours as it is trained by default; and with 64 cells:
ours with the published gates, whose products are as they are trained (bfloat16 where the
processor has a unit for it) and in float32; neuralhydrology's cell; torch's LSTM of 128 cells; and the four matrix
products of the published gates alone (forward, recomputed, and the two of the backward pass), by torch in float32.
Times: all in one process, in turn, and the median of the paired ratios. Memory: the peak of a fresh process above what
it held after the imports.
"""

import statistics
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from benchmarks.python_path import with_benchmarks
from benchmarks.speed.steps import AUXILIARY, STATIC, Step, drivers
from benchmarks.speed.steps import seconds as clocked
from jobspec.network import MCLSTMConfig
from models.devices import use_cores
from models.nets.compiled import loader
from models.nets.mclstm import MCLSTM
from runtime import child_processes
from testing.processes import peak_mib

RATIOS = (
    ("ours", "published"),
    ("neuralhydrology", "ours"),
    ("neuralhydrology", "published"),
    ("neuralhydrology", "published_float32"),
    ("published", "matmul"),
    ("published_float32", "matmul"),
    ("ours", "lstm128"),
    ("published", "lstm128"),
    ("published_float32", "lstm128"),
)
SAMPLES, DAYS, CELLS = 256, 365, 64
THREADS, PAIRS = 2, 5


def measure() -> dict[str, Any]:
    """Return times, memory and their ratios."""
    memory = {name: _memory_of(name) for name in ("ours", "neuralhydrology")}
    torch.set_num_threads(THREADS)
    use_cores(THREADS)
    steps = {
        "ours": ours(),
        "published": published(),
        "published_float32": published("float32"),
        "neuralhydrology": reference(),
        "lstm128": lstm(),
        "matmul": products(),
    }
    for step in steps.values():
        step()
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(PAIRS):
        for name, step in steps.items():
            seconds[name].append(clocked(step))
    paired = {
        f"{one}_over_{other}": [a / b for a, b in zip(seconds[one], seconds[other], strict=True)]
        for one, other in RATIOS
    }
    return {
        "shape": f"{SAMPLES} samples x {DAYS} days, {THREADS} threads; {CELLS} cells, {MCLSTMConfig().cells} of `ours`",
        "products_of_published": f"bfloat16, {loader.half_unit()}" if loader.half_unit() else "float32",
        "seconds": {name: statistics.median(values) for name, values in seconds.items()},
        "memory_mib": memory,
        "ratios": {
            **{name: statistics.median(values) for name, values in paired.items()},
            "memory_ours_over_neuralhydrology": memory["ours"] / memory["neuralhydrology"],
        },
        "spread": {**{name: [min(values), max(values)] for name, values in paired.items()}, "pairs": PAIRS},
    }


def ours() -> Step:
    """Return a training step of our network as it is trained by default."""
    return _step_of(MCLSTM(AUXILIARY, STATIC, **MCLSTMConfig().model_dump(exclude={"architecture"})))


def published(precision: str = "bfloat16") -> Step:
    """Return a training step of our network with the published gates."""
    network = MCLSTM(AUXILIARY, STATIC, CELLS)
    network.half_products = precision == "bfloat16"
    return _step_of(network)


def _step_of(network: MCLSTM) -> Step:
    inputs = drivers(SAMPLES, DAYS, STATIC)

    def step() -> None:
        network.zero_grad()
        network(inputs)[0]["discharge"].square().mean().backward()

    return step


def lstm() -> Step:
    """Return a training step of torch's LSTM on the same inputs, statics at every step."""
    inputs = drivers(SAMPLES, DAYS)
    features = torch.cat([inputs.mass, inputs.auxiliary, inputs.static.expand(DAYS, SAMPLES, STATIC)], -1)
    network = nn.LSTM(features.shape[-1], 128)
    head = nn.Linear(128, 1)

    def step() -> None:
        network.zero_grad()
        head(network(features)[0]).square().mean().backward()

    return step


def products() -> Step:
    """Return the gates' products of a training step, day by day: of inputs and cells; statics are projected once."""
    rows, features = CELLS * (CELLS + 2), CELLS + 1 + AUXILIARY
    weight, u, dz = torch.randn(features, rows), torch.randn(SAMPLES, features), torch.randn(SAMPLES, rows)
    z, du, d_weight = torch.empty_like(dz), torch.empty_like(u), torch.zeros_like(weight)

    def step() -> None:
        for _ in range(DAYS):
            torch.mm(u, weight, out=z)
        for _ in range(DAYS):
            torch.mm(u, weight, out=z)
            torch.mm(dz, weight.t(), out=du)
            d_weight.addmm_(u.t(), dz)

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
    command = child_processes.python_command("benchmarks.speed.mclstm_step", name)
    done = subprocess.run(command, env=with_benchmarks(), check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    use_cores(THREADS)
    if sys.argv[1] == "neuralhydrology":
        import neuralhydrology.modelzoo.mclstm  # noqa: F401 - counted among the imports
    before = peak_mib()
    chosen = {"ours": ours, "neuralhydrology": reference}[sys.argv[1]]()
    chosen()
    chosen()
    print(peak_mib() - before)
