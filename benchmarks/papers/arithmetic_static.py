"""[MC] Table B.2: sums of two subsets of a hundred inputs, joined by +, - or x, by MC-FC; tested on larger inputs."""

import torch
from torch import Tensor
from torch.func import functional_call

from benchmarks.papers.arithmetic import Learning, Network, Problem, Sums, Test, Weights, learn, row, setup
from benchmarks.papers.mcfc import MCFC
from benchmarks.papers.plan import Plan, Report
from models.checkpoint import under
from testing.plain_recurrence import softmax

INPUTS, SEEDS = 100, 20
PUBLISHED = {"+": "100 %", "-": "100 %", "x": "100 %"}
TESTS = {"inputs of 2 to 6": Test(1, (2.0, 6.0), 10_000)}
LEARNING = {
    "+": Learning(cells=2, rate=0.01, updates=300_000),
    "-": Learning(cells=3, rate=0.01, updates=100_000),
    "x": Learning(cells=3, rate=0.01, updates=3_000_000),
}
QUICK_UPDATES = 4000
NAMES = {"+": "plus", "-": "minus", "x": "times"}


def run(plan: Plan) -> Report:
    """Train and test the three operations."""
    rows, seconds = [], 0.0
    seeds = plan.seeds or SEEDS
    learning = {op: how.shortened(QUICK_UPDATES) if plan.quick else how for op, how in LEARNING.items()}
    for operation, how in learning.items():
        problem = static(operation, how, seeds)
        progress = learn(problem, plan, f"{NAMES[operation]}-{seeds}")
        rows += [row(problem, progress, name, PUBLISHED[operation], as_it_is) for name in TESTS]
        seconds += progress.seconds
    choices = {"store": "MC-FC, first weights orthogonal; float64", "inputs": INPUTS}
    return Report(
        "Static arithmetic", "Hoedt et al., MC-LSTM, Table B.2", {**choices, **setup(learning, seeds)}, rows, seconds
    )


def static(operation: str, learning: Learning, seeds: int) -> Problem:
    """Return the task and the networks of an operation."""
    networks = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        networks.append(Network(MCFC(INPUTS, learning.cells), learning.cells, operation))
    return Problem(learning, Sums.draw(operation, seeds, INPUTS), networks, folded, 1, TESTS)


def folded(weights: Weights, steps: int) -> Tensor:  # noqa: ARG001 - as the recurrent one
    """Return the weight of the MC-FC, (S, M, K)."""
    return softmax(weights["shares"]) * torch.sigmoid(weights["output_gate"])


def as_it_is(net: Network, weights: Weights, x: Tensor) -> Tensor:
    """Return the results (S, B) for x (B, 1, M)."""
    stored = functional_call(net.store, under("store.", weights), (x[:, 0],))
    result: Tensor = functional_call(net.read, under("read.", weights), (stored,))
    return result.squeeze(-1)
