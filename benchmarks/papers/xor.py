"""The parity of a stream of bits, given bit by bit or only where a bit changes: mmRNN.

Source: Lechner and Hasani, mmRNN, Table 3. A stream has 2 to 31 fair bits, and its class is whether the number of ones
is odd. Dense: a step for every bit. Event-coded: a step at the first bit, wherever the bit changes, and at the last
bit; the time since the step before is how long the bit before has lasted. The answer is read after the last step.

The networks learn short streams first, which the paper does not mention. Without it, both codings were still at chance
after 500 to 1600 updates (rates 1e-3 and 5e-3), by when dense streams of all lengths are learnt with it.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.papers.plan import Checkpoint, Plan, Report, Row
from models.checkpoint import Tensors, optimizer_tensors, prefixed, restore_optimizer, under
from models.nets.mixedmemory import MixedMemory

CELLS, BATCH, CLIP, SMOOTHING = 64, 256, 1.0, 0.9
RATE, DECAY = 5e-3, 0.97
FIRST_BITS, MORE_BITS, READY = 3, 2, 0.9
SORTED_BATCHES = 16  # streams are sorted by their steps inside chunks of this many batches, so that little is padding
CHECKPOINT_SECONDS = 60.0
PAPER = {"event-coded": "98.89 ± 0.26 %", "dense": "100.00 %"}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is trained.

    Attributes:
        bits: the pad size; a stream has 2 to bits - 1. It is also the unit of time.
        streams: training streams, `held_out` of them for validation.
        seeds: how many networks, each on streams of its own.
        stop_at: the accuracy on validation that is to last for `patience` epochs.
    """

    bits: int
    streams: int
    held_out: int
    tests: int
    epochs: int
    stop_at: float
    patience: int
    seeds: int


WHOLE = Size(32, 100_000, 5_000, 10_000, 150, 0.9995, 10, seeds=5)
QUICK = Size(8, 10_000, 500, 1_000, 120, 0.99, 2, seeds=1)


@dataclass(frozen=True, slots=True)
class Streams:
    """Streams of N.

    Attributes:
        x: the bit of a step, (N, T).
        elapsed: bits since the step before, in pad sizes, (N, T).
        steps: how many steps of T there are, (N).
        bits: how many bits, (N).
        odd: whether the number of ones is, 0 or 1, (N).
    """

    x: Tensor
    elapsed: Tensor
    steps: Tensor
    bits: Tensor
    odd: Tensor

    def take(self, chosen: Tensor | slice) -> "Streams":
        """Return the chosen streams, without the steps that none of them has."""
        steps = self.steps[chosen]
        longest = int(steps.max())
        return Streams(
            self.x[chosen, :longest], self.elapsed[chosen, :longest], steps, self.bits[chosen], self.odd[chosen]
        )

    def batches(self, chosen: Tensor) -> "list[Streams]":
        """Return the chosen streams by their number of steps, in batches of about the usual size."""
        by_steps = chosen[self.steps[chosen].argsort(stable=True)]
        return [self.take(batch) for batch in by_steps.tensor_split(max(1, len(chosen) // BATCH))]


def streams(count: int, bits: int, *, events: bool, random: np.random.Generator) -> Streams:
    """Make streams of 2 to bits - 1 fair bits."""
    length = random.integers(2, bits, count)
    values = random.integers(0, 2, (count, bits))
    place = np.arange(bits)
    valid = place < length[:, None]
    stepped = valid.copy()
    if events:
        changes = np.diff(values, axis=1, prepend=1 - values[:, :1]) != 0
        stepped &= changes | (place == length[:, None] - 1)
    steps = stepped.sum(1)
    at = np.argsort(~stepped, axis=1, kind="stable")  # the places of the steps, then those of none
    used = place < steps[:, None]
    x = np.take_along_axis(values, at, 1) * used
    elapsed = np.diff(at, axis=1, prepend=-1) * used / bits
    odd = (values * valid).sum(1) % 2
    return Streams(
        torch.from_numpy(x.astype(np.float32)),
        torch.from_numpy(elapsed.astype(np.float32)),
        *(torch.from_numpy(numbers) for numbers in (steps, length, odd)),
    )


class Parity(nn.Module):
    """mmRNN with a linear layer that reads h after the last step of a stream."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = MixedMemory(1, CELLS)
        self.head = nn.Linear(CELLS, 2)

    def forward(self, batch: Streams) -> Tensor:
        """Return the logits (N, 2) of even and odd."""
        h, _ = self.memory(batch.x.T.unsqueeze(-1), batch.elapsed.T)
        return torch.as_tensor(self.head(h[batch.steps - 1, torch.arange(len(batch.steps))]))


def accuracy(network: Parity, test: Streams) -> float:
    """Return the share of streams whose class is found."""
    with torch.no_grad():
        found = [(network(batch).argmax(-1) == batch.odd).sum() for batch in test.batches(torch.arange(len(test.odd)))]
    return int(torch.stack(found).sum()) / len(test.odd)


@dataclass(slots=True)
class Progress:
    """Progress of a training, as in a checkpoint's header."""

    epoch: int = 0
    updates: int = 0
    longest: int = FIRST_BITS
    whole_epochs: int = 0
    best: float = 0.0
    reached: int = 0
    seconds: float = 0.0


class Training:
    """The training of one network on one coding, to stop and go on at the end of an epoch."""

    def __init__(self, size: Size, seed: int, *, events: bool) -> None:
        self.size, self.seed, self.events = size, seed, events
        created = self._streams(0, size.streams)
        self.validation, self.training = created.take(slice(size.held_out)), created.take(slice(size.held_out, None))
        torch.manual_seed(seed)
        self.network = Parity()
        self.optimizer = torch.optim.RMSprop(self.network.parameters(), lr=RATE, alpha=SMOOTHING)
        self.best = _copied(self.network)
        self.progress = Progress()

    def _streams(self, part: int, count: int) -> Streams:
        return streams(count, self.size.bits, events=self.events, random=np.random.default_rng([self.seed, part]))

    @property
    def finished(self) -> bool:
        """Whether the accuracy has lasted, or the epochs are up."""
        return self.progress.reached >= self.size.patience or self.progress.epoch >= self.size.epochs

    def epoch(self) -> tuple[float, float]:
        """Go over the streams that are short enough once; return the accuracy on them and on validation."""
        started, progress = time.monotonic(), self.progress
        for group in self.optimizer.param_groups:
            group["lr"] = RATE * DECAY**progress.epoch
        right = count = 0
        for batch in self._batches():
            logits = self.network(batch)
            self.optimizer.zero_grad()
            functional.cross_entropy(logits, batch.odd).backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
            self.optimizer.step()
            right += int((logits.argmax(-1) == batch.odd).sum())
            count += len(batch.odd)
            progress.updates += 1
        learnt, validated = right / count, accuracy(self.network, self.validation)
        if validated > progress.best:
            progress.best, self.best = validated, _copied(self.network)
        progress.reached = progress.reached + 1 if validated >= self.size.stop_at else 0
        progress.whole_epochs += progress.longest >= self.size.bits - 1
        progress.longest = min(progress.longest + MORE_BITS * (learnt >= READY), self.size.bits - 1)
        progress.epoch += 1
        progress.seconds += time.monotonic() - started
        return learnt, validated

    def _batches(self) -> list[Streams]:
        """Return the batches of this epoch, in an order that hangs on seed and epoch alone."""
        random = np.random.default_rng([self.seed, 2, self.progress.epoch])
        short_enough = np.flatnonzero(self.training.bits.numpy() <= self.progress.longest)
        shuffled = torch.from_numpy(random.permutation(short_enough))
        chunks = shuffled.tensor_split(max(1, len(shuffled) // (BATCH * SORTED_BATCHES)))
        batches = [batch for chunk in chunks for batch in self.training.batches(chunk)]
        return [batches[position] for position in random.permutation(len(batches))]

    def test(self) -> float:
        """Return the accuracy of the best weights on the test streams."""
        network = Parity()
        network.load_state_dict(self.best)
        return accuracy(network, self._streams(1, self.size.tests))

    def save(self, checkpoint: Checkpoint) -> None:
        """Store everything that the next epoch needs."""
        parts = {
            "network.": self.network.state_dict(),
            "best.": self.best,
            "optimizer.": optimizer_tensors(self.optimizer),
        }
        tensors: Tensors = {}
        for prefix, part in parts.items():
            tensors |= prefixed(prefix, part)
        names = Progress.__dataclass_fields__
        checkpoint.save(tensors, {name: getattr(self.progress, name) for name in names})

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from the checkpoint, if there is one."""
        stored = checkpoint.load()
        if stored is not None:
            tensors, header = stored
            self.network.load_state_dict(under("network.", tensors))
            self.best = under("best.", tensors)
            restore_optimizer(self.optimizer, under("optimizer.", tensors))
            self.progress = Progress(**header)


def _copied(network: Parity) -> Tensors:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def train(training: Training, checkpoint: Checkpoint, plan: Plan, name: str) -> None:
    """Train to the end, from the checkpoint on where there is one."""
    training.restore(checkpoint)
    stored = result = time.monotonic()
    while not training.finished:
        learnt, validated = training.epoch()
        progress, now = training.progress, time.monotonic()
        if now - result > 10:
            result = now
            plan.note(
                f"{name}: epoch {progress.epoch}, up to {progress.longest} bits, {progress.updates} updates, "
                f"training {learnt:.4f}, validation {validated:.4f}, {progress.seconds:.0f} s"
            )
        if now - stored > CHECKPOINT_SECONDS:
            stored = now
            training.save(checkpoint)
    training.save(checkpoint)


def run(plan: Plan) -> Report:
    """Train on both codings."""
    size = QUICK if plan.quick else WHOLE
    rows, seconds = [], 0.0
    for coding, paper in PAPER.items():
        found: list[float] = []
        progresses: list[Progress] = []
        for seed in range(plan.seeds or size.seeds):
            training = Training(size, seed, events=coding == "event-coded")
            train(training, plan.checkpoint(f"{coding}-{seed}"), plan, f"{coding}, seed {seed}")
            found.append(training.test())
            progresses.append(training.progress)
            plan.note(f"{coding}, seed {seed}: test {found[-1]:.4f} after {training.progress.epoch} epochs")
        rows.append(_row(f"{coding}, up to {size.bits - 1} bits: test accuracy", paper, found, progresses))
        seconds += sum(progress.seconds for progress in progresses)
    return Report("Parity of bit streams", "mmRNN, Table 3", _setup(size, plan.seeds or size.seeds), rows, seconds)


def _row(what: str, paper: str, found: list[float], progresses: list[Progress]) -> Row:
    mean, spread = 100 * np.mean(found), 100 * np.std(found)
    ours = f"{mean:.2f} %" if len(found) == 1 else f"{mean:.2f} ± {spread:.2f} %"
    return Row(
        what,
        paper,
        f"{ours} after {', '.join(str(progress.epoch) for progress in progresses)} epochs",
        {
            "test": found,
            "validation": [progress.best for progress in progresses],
            "epochs": [progress.epoch for progress in progresses],
            "epochs over all streams": [progress.whole_epochs for progress in progresses],
            "updates": [progress.updates for progress in progresses],
            "seconds": [progress.seconds for progress in progresses],
        },
    )


def _setup(size: Size, seeds: int) -> dict[str, Any]:
    return {
        "seeds": f"{seeds}, each its own streams and network",
        "streams": f"{size.streams} training ({size.held_out} of them held out for validation), {size.tests} test",
        "bits": f"2 to {size.bits - 1}, uniform; a step's input is its bit (0 or 1); elapsed / {size.bits}",
        "network": f"mmRNN, {CELLS} cells, perceptrons with {CELLS} tanh, b_f = 3, f = W2 tanh(W1 h + b1) + b2, "
        "4 Euler sub-steps; linear layer on h after the last step; cross-entropy",
        "optimiser": f"RMSprop, smoothing {SMOOTHING}, batch about {BATCH}, gradient norm clipped to {CLIP}; "
        f"rate {RATE}, times {DECAY} after every epoch",
        "short streams first": f"an epoch goes over the streams of up to {FIRST_BITS} bits at first; "
        f"{MORE_BITS} bits more after every epoch with a training accuracy of {READY} (ours, not the paper's)",
        "end": f"validation accuracy of {size.stop_at} for {size.patience} epochs in a row, or {size.epochs} epochs "
        "(paper: 500); tested with the weights of the best validation accuracy",
        "order": f"shuffled; sorted by steps in chunks of {SORTED_BATCHES} batches, the batches then shuffled",
    }
