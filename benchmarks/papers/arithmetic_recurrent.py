"""[MC] Table 2: sums of two subsets of ten inputs over ten steps, joined by +, - or x, and tested on longer sequences.

The store is MC-LSTM with I and R fixed, and o from the auxiliary alone: the other gate weights are held at 0.
"""

import torch
from torch import Tensor, nn
from torch.func import functional_call

from benchmarks.papers.arithmetic import (
    TRAINED_ON,
    Learning,
    Network,
    Problem,
    Sums,
    Test,
    Weights,
    learn,
    row,
    setup,
)
from benchmarks.papers.massconserving import MassConserving
from benchmarks.papers.plan import Plan, Report
from models.checkpoint import under
from testing.plain_recurrence import softmax

INPUTS, STEPS, SEEDS = 10, 10, 20
PUBLISHED = {"+": "96 %", "-": "81 %", "x": "67 %"}
TESTS = {"100 steps": Test(100, TRAINED_ON, 1000), "1000 steps": Test(1000, TRAINED_ON, 100)}
LEARNING = {
    "+": Learning(cells=2, rate=0.01, updates=300_000, penalty=1e-3),
    "-": Learning(cells=3, rate=0.01, updates=300_000, penalty=1e-4),
    "x": Learning(cells=3, rate=0.05, updates=600_000),
}
QUICK_UPDATES = 4000
IDENTITY = 18.0  # first R: softmax(18 I)
SHUT = -9.0  # first weight and bias of o: shut until the last step, then half open
CHUNK = 100  # steps run at once in the tests


def run(plan: Plan) -> Report:
    """Train and test the three operations."""
    rows, seconds = [], 0.0
    seeds = plan.seeds or SEEDS
    learning = {op: how.shortened(QUICK_UPDATES) if plan.quick else how for op, how in LEARNING.items()}
    for operation, how in learning.items():
        problem = recurrent(operation, how, seeds)
        progress = learn(problem, plan, f"{NAMES[operation]}-{seeds}")
        rows += [row(problem, progress, name, PUBLISHED[operation], in_steps) for name in TESTS]
        seconds += progress.seconds
    choices = {
        "not the paper's": "first weights of o and R: from its bias of -3 the leak falls only as 1 / updates",
        "store": "MC-LSTM; I and R fixed softmaxes, o from the auxiliary (1, at the last step -1); float64",
        "inputs": f"{INPUTS} a step, {STEPS} steps in training",
        "first weights": f"I orthogonal, R softmax({IDENTITY:.0f} I); o: {SHUT:.0f}, shut until the last step",
        "published length": "the authors' published program tests 100 steps; 1000 are added",
    }
    return Report(
        "Recurrent arithmetic", "Hoedt et al., MC-LSTM, Table 2", {**choices, **setup(learning, seeds)}, rows, seconds
    )


NAMES = {"+": "plus", "-": "minus", "x": "times"}


def recurrent(operation: str, learning: Learning, seeds: int) -> Problem:
    """Return the task and the networks of an operation."""
    sums = Sums.draw(operation, seeds, INPUTS)
    networks = [network(operation, learning.cells, seed) for seed in range(seeds)]
    return Problem(learning, sums, networks, folded, STEPS, TESTS)


def network(operation: str, cells: int, seed: int) -> Network:
    """Return an MC-LSTM and its read-out as they start."""
    torch.manual_seed(seed)
    store = MassConserving(INPUTS, 1, cells, output_gate_bias=SHUT)
    for name, weight in store.named_parameters():
        if name == "input_gate.from_drivers" or name.endswith("from_cells"):
            nn.init.zeros_(weight).requires_grad_(False)
        elif name == "input_gate.bias":
            weight.data = nn.init.orthogonal_(torch.empty(INPUTS, cells)).reshape(1, -1)
        elif name == "output_gate.from_drivers":
            nn.init.constant_(weight, SHUT)
        elif name == "redistribution.logits":
            weight.data = IDENTITY * torch.eye(cells)
    return Network(store, cells, operation)


def folded(weights: Weights, steps: int) -> Tensor:
    """Return the outflow of the last step as a matrix, (S, T x M, K): i (diag(1 - o) R)^(steps to go) diag(o_last)."""
    from_a, bias = weights["output_gate.from_drivers"], weights["output_gate.bias"]
    stays, leaves = torch.sigmoid(-bias - from_a), torch.sigmoid(bias - from_a)
    i = softmax(weights["input_gate.bias"].unflatten(-1, (-1, bias.shape[-1])).squeeze(1))
    step = stays.mT * softmax(weights["redistribution.logits"])
    latest_first = power_columns(step, torch.diag_embed(leaves.squeeze(1)), steps)
    S, M, K = i.shape
    by_step = (i @ latest_first).view(S, M, steps, K).flip(2)
    return by_step.transpose(1, 2).reshape(S, steps * M, K)


def power_columns(matrix: Tensor, last: Tensor, count: int) -> Tensor:
    """Return last, matrix last, matrix^2 last ... side by side, `count` of them, by doubling."""
    width, found = last.shape[-1], last
    while found.shape[-1] < count * width:
        found = torch.cat([found, matrix @ found], -1)
        matrix = matrix @ matrix
    return found[..., : count * width]


def in_steps(net: Network, weights: Weights, x: Tensor) -> Tensor:
    """Return the results (S, B) of MC-LSTM run step by step on x (B, T, M)."""
    S = len(weights["store.output_gate.bias"])
    x = x.transpose(0, 1).unsqueeze(1).expand(-1, S, -1, -1)
    a = torch.ones_like(x[..., :1])
    a[-1] = -1
    cells, outflow = None, x
    for mass, auxiliary in zip(x.split(CHUNK), a.split(CHUNK), strict=True):
        storage, outflow = functional_call(net.store, under("store.", weights), (mass, auxiliary, cells))
        cells = storage[-1]
    result: Tensor = functional_call(net.read, under("read.", weights), (outflow[-1],))
    return result.squeeze(-1)
