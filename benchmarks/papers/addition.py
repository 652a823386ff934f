"""[MC] Table 1: networks that learn to add the marked numbers of a sequence, and are then given harder sequences."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from benchmarks.papers.addition_networks import CELLS, ConservingSum, LongShortTermSum, RecurrentUnit
from benchmarks.papers.plan import Plan, Report, Row
from benchmarks.papers.units import Nalu, Nau
from models.checkpoint import Tensors, optimizer_tensors, prefixed, restore_optimizer, under

BATCH = 128
AT_ONCE = 1000  # sequences a forward run, where nothing is learnt
NOTE_EVERY = 10.0  # seconds
TRAINING, VALIDATION, TEST, ORDER = range(4)  # what a stream of random numbers is for


@dataclass(frozen=True, slots=True)
class Task:
    """Sequences of numbers, some of them marked.

    Attributes:
        length: T, steps a sequence.
        summands: the least and the most marked numbers; as many are equally likely.
        highest: the numbers are uniform in [0, highest].
    """

    name: str
    length: int
    summands: tuple[int, int]
    highest: float


REFERENCE = Task("reference", 100, (2, 2), 0.5)
TESTS = (
    REFERENCE,
    Task("1000 long", 1000, (2, 2), 0.5),
    Task("numbers to 5.0", 100, (2, 2), 5.0),
    Task("up to 20 summands", 100, (2, 20), 0.5),
    Task("500 long, up to 10 summands, to 2.5", 500, (2, 10), 2.5),
    Task("exactly 20 summands", 100, (20, 20), 0.5),
    Task("500 long, exactly 10 summands, to 2.5", 500, (10, 10), 2.5),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is learnt, and how much is tested."""

    sequences: int
    epochs: int
    validate_every: int
    seeds: int
    short_tests: int
    long_tests: int


FULL = Size(sequences=10_000, epochs=100, validate_every=4, seeds=10, short_tests=10_000, long_tests=1000)
QUICK = Size(sequences=1000, epochs=10, validate_every=5, seeds=3, short_tests=1000, long_tests=200)


def sequences(task: Task, count: int, *key: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw sequences; the same key gives the same ones.

    Returns:
        the numbers x (T, N, 1); the marks a (T, N, 1): 1 at a summand, -1 at the last step, which is none, 0
        elsewhere; the sums y (N,).
    """
    random = np.random.default_rng(key)
    x = random.uniform(0.0, task.highest, (task.length, count))
    fewest, maximum = task.summands
    places = random.random((task.length - 1, count)).argsort(0)[:maximum]
    chosen = np.arange(maximum)[:, None] < random.integers(fewest, maximum, count, endpoint=True)
    a = np.zeros_like(x)
    np.put_along_axis(a, places, chosen.astype(a.dtype), 0)
    y = (a * x).sum(0)
    a[-1] = -1.0
    return _single(x)[..., None], _single(a)[..., None], _single(y)


@dataclass(frozen=True, slots=True)
class Contender:
    """A network, Adam's rate, and the paper's five figures."""

    name: str
    build: Callable[[], nn.Module]
    rate: float
    paper: tuple[str, ...]


CONTENDERS = (
    Contender(
        "MC-LSTM", ConservingSum, 0.05, ("0.004 ± 0.003", "0.009 ± 0.004", "0.8 ± 0.5", "0.6 ± 0.4", "4.0 ± 2.5")
    ),
    Contender(
        "MC-LSTM, R of each step",
        partial(ConservingSum, "gated"),
        0.05,
        ("0.013", "0.022", "2.6", "2.2", "13.6"),
    ),
    Contender("LSTM", LongShortTermSum, 0.001, ("0.008", "0.727", "21.4", "9.5", "54.6")),
    Contender("LSTM, forget bias 3", partial(LongShortTermSum, forget_bias=3.0), 0.001, ()),
    Contender("NAU", partial(RecurrentUnit, Nau), 0.01, ()),
    Contender("NALU", partial(RecurrentUnit, Nalu), 0.001, ()),
)


class Learning:
    """All seeds of a network: stacked weights, one Adam, a loss summed over the seeds.

    A network never sees another's gradient: its loss depends on its own weights alone, and Adam goes by entries.
    """

    def __init__(self, contender: Contender, size: Size, seeds: int) -> None:
        self.size, self.seeds = size, seeds
        networks = []
        for seed in range(seeds):
            torch.manual_seed(seed)
            networks.append(contender.build())
        self.network = networks[0]
        self.weights: Tensors = stack_module_state(networks)[0]
        self.best = {name: weight.detach().clone() for name, weight in self.weights.items()}
        self.best_error = torch.full((seeds,), torch.inf)
        self.optimizer = torch.optim.Adam(self.weights.values(), lr=contender.rate)
        self.training = self._data(TRAINING)
        self.validation = self._data(VALIDATION)
        self.epoch, self.seconds = 0, 0.0

    def _data(self, purpose: int) -> tuple[Tensor, ...]:
        """Return x, a (T, S, N, 1) and y (S, N): every seed has its own sequences."""
        drawn = [sequences(REFERENCE, self.size.sequences, purpose, seed) for seed in range(self.seeds)]
        x, a, y = zip(*drawn, strict=True)
        return torch.stack(x, 1), torch.stack(a, 1), torch.stack(y)

    def run_epoch(self) -> Tensor:
        """See every training sequence once; validate when it is time; return the mean losses (S,)."""
        began = time.perf_counter()
        x, a, y = self.training
        order = self._order()
        total = torch.zeros(self.seeds)
        each = torch.arange(self.seeds)[:, None]
        for batch in order.split(BATCH, 1):
            loss = (self.predict(self.weights, x[:, each, batch], a[:, each, batch]) - y[each, batch]).square().mean(1)
            self.optimizer.zero_grad()
            loss.sum().backward()
            self.optimizer.step()
            total += loss.detach() * batch.shape[1]
        self.epoch += 1
        if self.epoch % self.size.validate_every == 0:
            self._store_best()
        self.seconds += time.perf_counter() - began
        return total / order.shape[1]

    def _order(self) -> Tensor:
        """Return the order (S, N) of the epoch's sequences; it depends on the seed and the epoch alone."""
        orders = [
            np.random.default_rng((ORDER, seed, self.epoch)).permutation(self.size.sequences)
            for seed in range(self.seeds)
        ]
        return torch.from_numpy(np.stack(orders))

    def _store_best(self) -> None:
        error = self.errors(self.weights, *self.validation)
        better = error < self.best_error  # False where the error is not a number
        self.best_error = torch.where(better, error, self.best_error)
        for name, weight in self.weights.items():
            mask = better.reshape(-1, *[1] * (weight.dim() - 1))
            self.best[name] = torch.where(mask, weight.detach(), self.best[name])

    def predict(self, weights: Tensors, x: Tensor, a: Tensor) -> Tensor:
        """Return the sums (S, B) for x, a (T, S, B, 1)."""
        return functional_call(self.network, weights, (x, a))  # type: ignore[no-any-return]

    @torch.no_grad()
    def errors(self, weights: Tensors, x: Tensor, a: Tensor, y: Tensor) -> Tensor:
        """Return the mean squared errors (S,)."""
        parts = zip(x.split(AT_ONCE, 2), a.split(AT_ONCE, 2), y.split(AT_ONCE, 1), strict=True)
        return (
            sum(
                ((self.predict(weights, *inputs) - target).square().sum(1) for *inputs, target in parts),
                start=torch.zeros(self.seeds),
            )
            / y.shape[1]
        )

    def tensors(self) -> Tensors:
        """Return all that it takes to go on."""
        return {
            **prefixed("weights/", self.weights),
            **prefixed("best/", self.best),
            **prefixed("optimizer/", optimizer_tensors(self.optimizer)),
            "best_error": self.best_error,
        }

    def restore(self, tensors: Tensors, header: dict[str, Any]) -> None:
        """Go on from what `tensors` gave."""
        for name, stored in under("weights/", tensors).items():
            self.weights[name].data.copy_(stored)
        self.best, self.best_error = under("best/", tensors), tensors["best_error"]
        restore_optimizer(self.optimizer, under("optimizer/", tensors))
        self.epoch, self.seconds = header["epoch"], header["seconds"]


def learn(plan: Plan, contender: Contender, size: Size, seeds: int) -> Learning:
    """Train a network, or go on training it; a checkpoint is stored after every epoch."""
    learning, result = Learning(contender, size, seeds), time.monotonic()
    checkpoint = plan.checkpoint(f"{contender.name}-{seeds}")
    if (stored := checkpoint.load()) is not None:
        learning.restore(*stored)
    while learning.epoch < size.epochs:
        losses = learning.run_epoch()
        checkpoint.save(learning.tensors(), {"epoch": learning.epoch, "seconds": learning.seconds})
        if time.monotonic() - result > NOTE_EVERY:
            result = time.monotonic()
            text = ", ".join(f"{loss:.2g}" for loss in losses.tolist())
            plan.note(f"{contender.name} epoch {learning.epoch}/{size.epochs} ({learning.seconds:.0f} s): {text}")
    return learning


def run(plan: Plan) -> Report:
    """Train every network, test it on harder sequences."""
    size = QUICK if plan.quick else FULL
    seeds = plan.seeds or size.seeds
    rows, seconds = [], 0.0
    for contender in CONTENDERS:
        learning = learn(plan, contender, size, seeds)
        began = time.perf_counter()
        for number, task in enumerate(TESTS):
            paper = contender.paper[number] if number < len(contender.paper) else "-"
            rows.append(_row(f"{contender.name}, {task.name}", paper, _test(learning, task, number)))
        seconds += learning.seconds + time.perf_counter() - began
    return Report(
        "The addition problem: mean squared error", "MC-LSTM (ICLR 2021), Table 1", _setup(size, seeds), rows, seconds
    )


def _test(learning: Learning, task: Task, number: int) -> list[float]:
    """Return each seed's error on the same test sequences."""
    count = learning.size.short_tests if task.length == REFERENCE.length else learning.size.long_tests
    x, a, y = sequences(task, count, TEST, number)
    every = learning.seeds
    x, a = (values[:, None].expand(-1, every, -1, -1) for values in (x, a))
    return learning.errors(learning.best, x, a, y.expand(every, -1)).tolist()


def _row(what: str, paper: str, errors: list[float]) -> Row:
    finite = [error for error in errors if math.isfinite(error)]
    median = float(np.median([error if math.isfinite(error) else math.inf for error in errors]))
    mean = float(np.mean(finite)) if finite else math.nan
    interval = float(stats.t.ppf(0.975, len(finite) - 1) * stats.sem(finite)) if len(finite) > 1 else math.nan
    lost = f", {len(errors) - len(finite)} of {len(errors)} not finite" if len(finite) < len(errors) else ""
    values = {"seeds": errors, "mean": mean, "interval": interval, "median": median}
    return Row(what, paper, f"{mean:.3g} ± {interval:.2g}, median {median:.3g}{lost}", _plain(values))


def _plain(value: Any) -> Any:
    """Return the value with None for what JSON has no number for."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if math.isfinite(value) else None


def _setup(size: Size, seeds: int) -> dict[str, Any]:
    updates = size.epochs * math.ceil(size.sequences / BATCH)
    return {
        "networks": f"{CELLS} cells; MC-LSTM: softmax, R fixed and first softmax(5 I), output gate's bias -3, gates "
        "see a(t) and the cells' shares, linear read-out of the last outflow; with R of each step (the paper's table "
        "B.3) R too sees a(t) and the shares, and its bias is first 5 I; LSTM: biases 0 (or the forget gate's "
        "3), linear read-out; NAU, NALU: h(t) = unit([x(t), a(t), h(t-1)]), read by a NAU, no penalty on the weights",
        "data": "each seed has its own training and validation sequences; the last step is not a summand; 'up to n' "
        "summands: 2 to n, equally likely, as in the authors' published test, from which the paper's figures come; "
        "'exactly n', as the paper's text reads, beside it",
        "sequences": f"{size.sequences} training, {size.sequences} validation; tests: {size.short_tests} where 100 "
        f"long, {size.long_tests} where longer, the same for all seeds",
        "training": f"Adam, rates {', '.join(f'{c.name} {c.rate}' for c in CONTENDERS)}; batch {BATCH}; {size.epochs} "
        f"epochs, {updates} updates; loss: mean squared error",
        "selection": f"the weights of the lowest validation error, looked at every {size.validate_every} epochs",
        "seeds": seeds,
        "ours": "mean ± 95 % interval of the mean (Student's t), median of the seeds; mean and interval over seeds "
        "whose error is finite",
    }


def _single(values: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))
