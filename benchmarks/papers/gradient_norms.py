"""How a gradient grows on its way back through a long irregular sequence: ODE-RNN against mmRNN.

Source: Lechner and Hasani, mmRNN, Table 2. The paper gives neither the task nor the norm. Ours: streams of random
inputs at random times, classed by the sign of their sum after the last step (cross-entropy), untrained networks; a
sample's norm is |dL/ds_1| / |dL/ds_T|, the loss' gradient with respect to the first state over that with respect to
the last, where s is what a network hands on to its next step: c of mmRNN, h of ODE-RNN. How steep the loss is cancels.

ODE-RNN has the same f and solver (or, as published, a step of Runge and Kutta's fourth order), and no memory cell: with
h' = ODESolve(f, h_{i-1}, dt_i) it does
    h_i = h' + tanh(W h' + U x_i + b)     (plain)    or    h_i = tanh(W h' + U x_i + b)     (saturating).
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.papers.plan import Plan, Report, Row
from models.nets.mixedmemory import SUBSTEPS, MemoryState, MixedMemory

CELLS, SAMPLES, SEEDS, QUICK_SEEDS = 64, 64, 20, 3
FORGET_BIAS = 5.1  # sigmoid(5.1) = 0.994
LENGTHS = (5, 10, 25, 50)
PAPER = {"ODE-RNN": ("10.5", "38.8", "236", "1215"), "mmRNN": ("0.97", "0.96", "1.01", "1.25")}


def run(plan: Plan) -> Report:
    """Measure the norms of untrained networks, the mean over seeds and samples."""
    started = time.monotonic()
    seeds = plan.seeds or (QUICK_SEEDS if plan.quick else SEEDS)
    rows = []
    for name, build in NETWORKS.items():
        for position, length in enumerate(LENGTHS):
            norms = [gradient_norm(build, length, seed) for seed in range(seeds)]
            mean = sum(norms) / seeds
            paper = PAPER[name][position] if name in PAPER else "-"
            rows.append(Row(f"{name}, {length} steps", paper, f"{mean:.3g}", {"mean": mean, "seeds": norms}))
        plan.note(f"{name}: {', '.join(row.ours for row in rows[-len(LENGTHS) :])}")
    return Report("Gradient norms", "mmRNN, Table 2", _setup(seeds), rows, time.monotonic() - started)


def _setup(seeds: int) -> dict[str, Any]:
    return {
        "seeds": f"{seeds}, each its own networks and {SAMPLES} samples",
        "size": f"{CELLS} cells, perceptrons with {CELLS} tanh; f: W2 tanh(W1 h + b1) + b2, {SUBSTEPS} Euler sub-steps",
        "forget bias": f"b_f = {FORGET_BIAS}: sigmoid(b_f) = 0.994; sigmoid(3) = 0.953",
        "data": "x ~ N(0, 1), elapsed ~ U[0, 2] / length: a whole sequence is about one unit of time",
        "task": "the sign of the sum of x, read from h after the last step by a linear layer; cross-entropy",
        "norm": "|dL/ds_1| / |dL/ds_T| a sample, s = c of mmRNN, h of ODE-RNN; mean over samples, then seeds",
        "trained": "no",
        "ODE-RNN": "h' = ODESolve(f, h, dt); h = h' + tanh(W h' + U x + b)",
        "ODE-RNN, RK4": "the same, h' by one step of the classical Runge-Kutta method",
        "saturating ODE-RNN": "h' = ODESolve(f, h, dt); h = tanh(W h' + U x + b)",
        "silent in the paper": "task, norm, form of ODE-RNN, whether trained",
    }


class _MMRNN(nn.Module):
    """mmRNN, a step at a time: the state is c, and h to read from."""

    def __init__(self, *, forget_bias: float = FORGET_BIAS) -> None:
        super().__init__()
        self.memory = MixedMemory(1, CELLS, forget_bias=forget_bias)

    def forward(self, state: MemoryState, x: Tensor, elapsed: Tensor) -> MemoryState:
        driven, dt = self.memory.from_inputs(x), (elapsed / SUBSTEPS).unsqueeze(-1)
        return self.memory.step(state, driven, dt, self.memory.inner())


Slope = Callable[[Tensor], Tensor]
Solver = Callable[[Slope, Tensor, Tensor], Tensor]


def euler(f: Slope, h: Tensor, elapsed: Tensor) -> Tensor:
    """Return h after some time, by the sub-steps that mmRNN takes."""
    for _ in range(SUBSTEPS):
        h = h + elapsed / SUBSTEPS * f(h)
    return h


def runge_kutta(f: Slope, h: Tensor, elapsed: Tensor) -> Tensor:
    """Return h after some time, by one step of the classical method of the fourth order."""
    k1 = f(h)
    k2 = f(h + elapsed / 2 * k1)
    k3 = f(h + elapsed / 2 * k2)
    k4 = f(h + elapsed * k3)
    return h + elapsed / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


class _ODERNN(nn.Module):
    """ODE-RNN, a step at a time: h is both the state and what is read."""

    def __init__(self, *, saturating: bool = False, solve: Solver = euler) -> None:
        super().__init__()
        self.saturating, self.solve = saturating, solve
        self.W1, self.W2 = nn.Linear(CELLS, CELLS), nn.Linear(CELLS, CELLS)
        self.cell = nn.Linear(1 + CELLS, CELLS)

    def forward(self, state: MemoryState, x: Tensor, elapsed: Tensor) -> MemoryState:
        h = self.solve(lambda h: self.W2(torch.tanh(self.W1(h))), state[0], elapsed.unsqueeze(-1))
        update = torch.tanh(self.cell(torch.cat([x, h], -1)))
        h = update if self.saturating else h + update
        return h, h


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "ODE-RNN": _ODERNN,
    "ODE-RNN, RK4": partial(_ODERNN, solve=runge_kutta),
    "mmRNN": _MMRNN,
    "mmRNN, b_f = 3": partial(_MMRNN, forget_bias=3.0),
    "ODE-RNN, saturating": partial(_ODERNN, saturating=True),
}


def gradient_norm(build: Callable[[], nn.Module], length: int, seed: int) -> float:
    """Return the mean norm of one untrained network over its samples."""
    torch.manual_seed(seed)
    step, head = build().double(), nn.Linear(CELLS, 2).double()
    x = torch.randn(length, SAMPLES, 1, dtype=torch.float64)
    elapsed = torch.rand(length, SAMPLES, dtype=torch.float64) * 2 / length
    state = (torch.zeros(SAMPLES, CELLS, dtype=torch.float64),) * 2
    passed = []
    for now, gap in zip(x, elapsed, strict=True):
        state = step(state, now, gap)
        passed.append(state[0])
    loss = functional.cross_entropy(head(state[1]), (x.sum((0, 2)) > 0).long(), reduction="sum")
    first, last = torch.autograd.grad(loss, [passed[0], passed[-1]])
    return float((first.norm(dim=-1) / last.norm(dim=-1)).mean())
