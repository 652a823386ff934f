"""Two sums of inputs joined by +, - or x, learnt by all seeds in one program: what both experiments share.

A network here is a store (MC-LSTM or MC-FC) and a read-out. The store is linear in its inputs, because its gates see
no input: it is trained through the matrix of that map, which costs a product per update whatever the length.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import stack_module_state

from benchmarks.papers.mcfc import MultiplicativeMCFC
from benchmarks.papers.plan import Checkpoint, Plan, Row
from models.checkpoint import optimizer_tensors, prefixed, restore_optimizer, under

Weights = dict[str, Tensor]
Folded = Callable[[Weights, int], Tensor]  # weights and steps -> (S, F inputs, K outputs), F = steps x inputs a step

BATCH = 128
BLOCK = 100  # updates whose data are drawn at once
SUBSET, OVERLAP = 0.25, 0.5  # of the inputs; of the subset
OFF_BY = 1e-5  # in every weight of the network that sets the bar
TRAINED_ON = (1.0, 2.0)
ADAM_EPSILON = 1e-12  # gradients of exact solutions are small
CHECK_EVERY = 1000  # updates
CURVE_POINTS, CURVE_DRAWS = 20, 100
SAVE_EVERY, NOTE_EVERY = 60.0, 10.0  # seconds
VALIDATION_DRAWS = 1000
VALIDATION_SEED, TEST_SEED = 1_000_001, 1_000_002


@dataclass(frozen=True, slots=True)
class Learning:
    """How an operation is learnt: the size of the store, and Adam with a rate that is held and then falls.

    Attributes:
        cells: outputs of the store.
        rate: Adam's, for the first `held` of the updates; it then falls evenly in its logarithm to `last` of it.
        penalty: L2 on the linear read-out, as penalty / 2 x mean of its squared weights.
    """

    cells: int
    rate: float
    updates: int
    penalty: float = 0.0
    held: float = 0.4
    last: float = 1e-4

    def shortened(self, updates: int) -> "Learning":
        return replace(self, updates=updates)

    def rate_at(self, update: int) -> float:
        fallen = max(0.0, update / self.updates - self.held) / (1 - self.held)
        return self.rate * math.exp(math.log(self.last) * fallen)


@dataclass(frozen=True, slots=True)
class Sums:
    """The task of every seed: a and b, two stretches of the inputs of a step that overlap, as 0 and 1, (S, M)."""

    operation: str
    a: Tensor
    b: Tensor

    @staticmethod
    def draw(operation: str, seeds: int, inputs: int) -> "Sums":
        """Place a stretch of a quarter of the inputs, and a second that shares half of it, at random."""
        size = int(SUBSET * inputs)
        shift = size - int(OVERLAP * size)
        a, b = torch.zeros(2, seeds, inputs, dtype=torch.float64)
        for seed in range(seeds):
            generator = torch.Generator().manual_seed(seed)
            first = int(torch.randint(inputs - size - shift + 1, (), generator=generator))
            a[seed, first : first + size] = 1
            b[seed, first + shift : first + shift + size] = 1
        return Sums(operation, a, b)

    def joined(self, of_a: Tensor, of_b: Tensor) -> Tensor:
        if self.operation == "x":
            return of_a * of_b
        return of_a + of_b if self.operation == "+" else of_a - of_b

    def target(self, x: Tensor) -> Tensor:
        """Return the result of each seed for inputs (B, T, M): (B, S)."""
        total = x.sum(1)
        return self.joined(total @ self.a.T, total @ self.b.T)

    def bar(self, x: Tensor) -> Tensor:
        """Return the mean squared error, (S,), of two accumulators whose every weight is off by 1e-5.

        They take 1 - 1e-5 of the inputs they should and 1e-5 of the others, and retain 1 - 1e-5 of themselves a step.
        """
        saved = (1 - OFF_BY) ** torch.arange(x.shape[1] - 1, -1, -1, dtype=x.dtype)
        total = torch.einsum("btm,t->bm", x, saved)
        taken_a, taken_b = (which * (1 - 2 * OFF_BY) + OFF_BY for which in (self.a, self.b))
        return (self.joined(total @ taken_a.T, total @ taken_b.T) - self.target(x)).square().mean(0)


class Network(nn.Module):
    """A store and its read-out: free and linear for + and -, a multiplicative MC-FC for x."""

    def __init__(self, store: nn.Module, cells: int, operation: str) -> None:
        super().__init__()
        self.store = store
        self.read = MultiplicativeMCFC(cells, 1) if operation == "x" else _Linear(cells)

    def forward(self, stored: Tensor) -> Tensor:
        """Return the result, (..., B), of what the store gives, (..., B, K)."""
        result: Tensor = self.read(stored)
        return result.squeeze(-1)


class _Linear(nn.Module):
    def __init__(self, cells: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(cells, 1)))

    def forward(self, stored: Tensor) -> Tensor:
        return stored @ self.weight


def drawn(seed: int, bounds: tuple[float, float], *shape: int) -> Tensor:
    """Return uniform numbers of a seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.empty(shape, dtype=torch.float64).uniform_(*bounds, generator=generator)


@dataclass(frozen=True, slots=True)
class Test:
    """Inputs that were not trained on: longer, or in another range."""

    steps: int
    bounds: tuple[float, float]
    draws: int

    def draw(self, inputs: int, draws: int) -> Tensor:
        return drawn(TEST_SEED, self.bounds, draws, self.steps, inputs)


@dataclass(frozen=True, slots=True)
class Problem:
    """An operation to learn: its task, its networks (S of them), the map of their store, and the longer or wider tests.

    Attributes:
        steps: T, in training.
    """

    learning: Learning
    sums: Sums
    networks: list[Network]
    folded: Folded
    steps: int
    tests: dict[str, Test]
    trained_on: tuple[float, float] = TRAINED_ON

    @property
    def seeds(self) -> int:
        return len(self.networks)

    @property
    def inputs(self) -> int:
        return self.sums.a.shape[1]

    def penalty(self, weights: Weights) -> Tensor | float:
        """Return the L2 of the linear read-outs, summed over the seeds."""
        if not self.learning.penalty:
            return 0.0
        return self.learning.penalty / 2 * weights["read.weight"].square().mean((1, 2)).sum()

    def errors(self, weights: Weights, x: Tensor) -> Tensor:
        """Return result - target, (B, S), for inputs (B, T, M) that all seeds share."""
        B, T, _ = x.shape
        matrix = self.folded(under("store.", weights), T)
        if self.sums.operation != "x":
            wanted = self.sums.joined(self.sums.a, self.sums.b).repeat(1, T)
            return x.flatten(1) @ ((matrix @ weights["read.weight"]).squeeze(-1) - wanted).T
        S, F, K = matrix.shape
        stored = (x.flatten(1) @ matrix.transpose(0, 1).reshape(F, S * K)).view(B, S, K).transpose(0, 1)
        result: Tensor = torch.func.functional_call(self.networks[0].read, under("read.", weights), (stored,))
        return result.squeeze(-1).T - self.sums.target(x)


@dataclass(slots=True)
class Progress:
    """Where a training is: what it needs to go on, and what is reported.

    Attributes:
        best: of each seed, the weights with the lowest validation error so far.
        validation: that error, (S,).
        curve: the tests of the best weights over the updates.
    """

    weights: Weights
    optimizer: torch.optim.Optimizer
    best: Weights
    validation: Tensor
    update: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @staticmethod
    def start(problem: Problem) -> "Progress":
        weights, _ = stack_module_state([network.double() for network in problem.networks])
        learnt = [weight for weight in weights.values() if weight.requires_grad]
        optimizer = torch.optim.Adam(learnt, eps=ADAM_EPSILON, fused=True)
        best = {name: weight.detach().clone() for name, weight in weights.items()}
        return Progress(weights, optimizer, best, torch.full((problem.seeds,), math.inf, dtype=torch.float64))

    def save(self, checkpoint: Checkpoint) -> None:
        tensors = {
            **prefixed("weights.", self.weights),
            **prefixed("best.", self.best),
            **prefixed("optimizer.", optimizer_tensors(self.optimizer)),
            "validation": self.validation,
        }
        checkpoint.save(tensors, {"update": self.update, "curve": self.curve, "seconds": self.seconds})

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from the checkpoint, where there is one."""
        saved = checkpoint.load()
        if saved is None:
            return
        tensors, header = saved
        with torch.no_grad():
            for name, weight in under("weights.", tensors).items():
                self.weights[name].copy_(weight)
        self.best = under("best.", tensors)
        restore_optimizer(self.optimizer, under("optimizer.", tensors))
        self.validation = tensors["validation"]
        self.update, self.curve, self.seconds = header["update"], header["curve"], header["seconds"]


def learn(problem: Problem, plan: Plan, name: str) -> Progress:
    """Train all seeds, from the last checkpoint on."""
    learning, checkpoint = problem.learning, plan.checkpoint(name)
    progress = Progress.start(problem)
    progress.load(checkpoint)
    clock = Clock(progress.seconds)
    validated_on = drawn(VALIDATION_SEED, problem.trained_on, VALIDATION_DRAWS, problem.steps, problem.inputs)
    while progress.update < learning.updates:
        block = drawn(progress.update // BLOCK, problem.trained_on, BLOCK, BATCH, problem.steps, problem.inputs)
        for x in block:
            progress.optimizer.param_groups[0]["lr"] = learning.rate_at(progress.update)
            loss = problem.errors(progress.weights, x).square().sum() / BATCH + problem.penalty(progress.weights)
            progress.optimizer.zero_grad()
            loss.backward()
            progress.optimizer.step()
            progress.update += 1
        if progress.update % CHECK_EVERY == 0:
            store_best(problem, progress, validated_on)
        if progress.update % (learning.updates // CURVE_POINTS) == 0:
            progress.curve.append({"updates": progress.update, **tested(problem, progress.best, CURVE_DRAWS)})
        progress.seconds = clock.seconds()
        if clock.due("save", SAVE_EVERY) or progress.update == learning.updates:
            progress.save(checkpoint)
        if clock.due("note", NOTE_EVERY):
            plan.note(f"{name} {progress.update}/{learning.updates} validation {progress.validation.median():.1e}")
    return progress


@torch.no_grad()
def store_best(problem: Problem, progress: Progress, x: Tensor) -> None:
    """Store the weights of the seeds that validate better than before."""
    error = problem.errors(progress.weights, x).square().mean(0)
    better = error < progress.validation
    progress.validation = torch.where(better, error, progress.validation)
    for name, weight in progress.weights.items():
        shape = (-1, *[1] * (weight.dim() - 1))
        progress.best[name] = torch.where(better.view(shape), weight, progress.best[name])


@torch.no_grad()
def tested(problem: Problem, weights: Weights, draws: int) -> dict[str, Any]:
    """Return success rate and median error of every test."""
    found = {}
    for name, test in problem.tests.items():
        x = test.draw(problem.inputs, draws)
        error, bar = problem.errors(weights, x).square().mean(0), problem.sums.bar(x)
        found[name] = {"success": (error < bar).double().mean().item(), "median error": error.median().item()}
    return found


class Clock:
    """The seconds of computing over all the runs, and what is due."""

    def __init__(self, before: float) -> None:
        self._start = time.perf_counter() - before
        self._last: dict[str, float] = {}

    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def due(self, what: str, every: float) -> bool:
        """Return whether this was last done (or first asked) `every` seconds ago; if so, count it as done."""
        now = self.seconds()
        if now - self._last.setdefault(what, now) < every:
            return False
        self._last[what] = now
        return True


@torch.no_grad()
def row(problem: Problem, progress: Progress, name: str, published: str, run: Callable[..., Tensor]) -> Row:
    """Return the line of a test, with the networks run as they are (`run`) and not through the matrix of their map."""
    test = problem.tests[name]
    x = test.draw(problem.inputs, test.draws)
    result = run(problem.networks[0], progress.best, x)
    error = (result.T - problem.sums.target(x)).square().mean(0)
    bar = problem.sums.bar(x)
    solved = int((error < bar).sum())
    ours = f"{100 * solved / problem.seeds:.0f} % ({solved} of {problem.seeds}), median error {error.median():.1e}"
    values = {
        "errors": error.tolist(),
        "bars": bar.tolist(),
        "validation": progress.validation.tolist(),
        "curve": [{"updates": point["updates"], **point[name]} for point in progress.curve],
    }
    return Row(f"{problem.sums.operation}, {name}", published, f"{ours}, bar {bar.median():.1e}", values)


def setup(learning: dict[str, Learning], seeds: int) -> dict[str, Any]:
    """Return what it takes to do it again."""
    return {
        "seeds": seeds,
        "data": f"batch {BATCH}, fresh from U{list(TRAINED_ON)} at every update, the same numbers for all seeds",
        "subsets": f"two stretches of {SUBSET} of the inputs (rounded down) at a random place, {OVERLAP} of it shared",
        "learning": {operation: asdict(how) for operation, how in learning.items()},
        "optimiser": f"Adam, epsilon {ADAM_EPSILON}; loss: mean squared error, and the penalty",
        "read-out": "+ and -: linear without bias; x: multiplicative MC-FC",
        "selection": f"lowest error on {VALIDATION_DRAWS} draws like the training's, every {CHECK_EVERY} updates",
        "success": (
            f"mean squared error below that of two accumulators with every weight off by {OFF_BY} "
            "(inputs and recurrence) on the same draws and subsets"
        ),
    }
