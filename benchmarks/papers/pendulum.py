"""The pendulum experiment: two energies carried on by themselves for 500 steps, MC-LSTM against LSTM.

Source: Hoedt et al., MC-LSTM, the pendulum experiment; what the paper leaves open is as in its published code.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from benchmarks.papers import pendulum_data as data
from benchmarks.papers.pendulum_data import Array, Pendulum, pendulums, series, waves
from benchmarks.papers.pendulum_networks import (
    CELLS,
    FeedbackLSTM,
    Forecaster,
    MassForecaster,
    seeded,
)
from benchmarks.papers.plan import Checkpoint, Plan, Report, Row
from models.checkpoint import Tensors, optimizer_tensors, prefixed, restore_optimizer, under

UPDATES, QUICK_UPDATES, QUICK_STRIDE = 1500, 150, 25
RATE, WEIGHT_DECAY = 0.01, 1e-5
FIRST_WINDOW, GROWTH, GOOD_ENOUGH = 11, 5, -0.9
TEST_STEPS = 500
MIN_SPREAD = 1e-12  # a constant window has no correlation
SAVE_SECONDS, NOTE_SECONDS = 60.0, 10.0


MC_LSTM, LSTM = "MC-LSTM", "LSTM"


@dataclass(frozen=True, slots=True)
class Member:
    """A network to train: its pendulum and its seed."""

    pendulum: Pendulum
    seed: int

    @property
    def first_seed(self) -> int:
        """The seed of its first weights: another for every set."""
        return 1000 * self.seed + self.pendulum.number


def window_losses(predicted: Tensor, observed: Tensor, windows: Tensor) -> Tensor:
    """Return mean squared error - mean correlation over steps 1 .. tau - 1, one for each of S networks.

    Args:
        predicted, observed: (T, S, 2).
        windows: (S,), the tau of each.
    """
    steps = torch.arange(len(predicted))[:, None]
    inside = ((steps > 0) & (steps < windows)).unsqueeze(-1)
    error = (predicted - observed).square()
    count = (windows - 1).unsqueeze(-1)

    def deviations(values: Tensor) -> Tensor:
        stored = torch.where(inside, values, 0.0)
        return torch.where(inside, values - stored.sum(0) / count, 0.0)

    p, q = deviations(predicted), deviations(observed)
    spread = (p.square().sum(0) * q.square().sum(0) + MIN_SPREAD).sqrt()
    return (torch.where(inside, error, 0.0).sum(0) / count - (p * q).sum(0) / spread).mean(-1)


def grown(windows: Tensor, losses: Tensor, longest_run: Tensor) -> Tensor:
    """Return the next update's windows: 5 steps longer where the loss is at most -0.9."""
    return torch.where(losses <= GOOD_ENOUGH, (windows + GROWTH).minimum(longest_run), windows)


@dataclass(frozen=True, slots=True)
class Fit:
    """Results of S networks: mean squared errors (J2) of the test steps, last windows, seconds of computing."""

    errors: list[float]
    windows: list[int]
    seconds: float


class Training:
    """S networks in training, a pendulum each, in one program.

    Attributes:
        step: updates done.
        windows: (S,), tau of the next update.
        seconds: of computing so far.
    """

    def __init__(self, network: Forecaster, members: Sequence[Pendulum]) -> None:
        self.network, self.members = network, members
        self.optimizer = torch.optim.Adam(network.weights().values(), lr=RATE, weight_decay=WEIGHT_DECAY)
        self.observed = torch.tensor(np.stack([series(member).scaled for member in members], 1), dtype=torch.float32)
        self.a = torch.tensor(waves(), dtype=torch.float32)
        self.longest = torch.tensor([member.training_steps for member in members])
        self.windows = torch.full_like(self.longest, FIRST_WINDOW)
        self.step, self.seconds = 0, 0.0

    def update(self) -> None:
        """Make one update of every network."""
        began = time.monotonic()
        T = int(self.windows.max())
        losses = window_losses(self.network(self.observed[0], self.a[: T - 1]), self.observed[:T], self.windows)
        self.optimizer.zero_grad()
        losses.sum().backward()
        for weight in self.network.weights().values():
            if weight.grad is not None:  # that of a long run can overflow
                weight.grad.nan_to_num_(0.0, 0.0, 0.0)
        self.optimizer.step()
        self.windows = grown(self.windows, losses.detach(), self.longest)
        self.step += 1
        self.seconds += time.monotonic() - began

    def errors(self) -> list[float]:
        """Return each network's mean squared error (J2) over the 500 steps after its training part."""
        last = int(self.longest.max()) + TEST_STEPS
        with torch.no_grad():
            predicted = self.network(self.observed[0], self.a[: last - 1]).double().numpy()
        return [forecast_error(member, predicted[:, index]) for index, member in enumerate(self.members)]

    def save(self, checkpoint: Checkpoint) -> None:
        """Store all that `load` needs."""
        weights = prefixed("weight.", self.network.weights())
        moments = prefixed("optimizer.", optimizer_tensors(self.optimizer))
        header = {"step": self.step, "windows": self.windows.tolist(), "seconds": self.seconds}
        checkpoint.save({**weights, **moments}, header)

    def load(self, tensors: Tensors, header: dict[str, Any]) -> None:
        """Go on from what `save` stored."""
        weights = self.network.weights()
        with torch.no_grad():
            for name, value in under("weight.", tensors).items():
                weights[name].copy_(value)
        restore_optimizer(self.optimizer, under("optimizer.", tensors))
        self.step, self.seconds = header["step"], header["seconds"]
        self.windows = torch.tensor(header["windows"])


def fit(plan: Plan, name: str, network: Forecaster, members: Sequence[Pendulum], updates: int) -> Fit:
    """Train S networks on a pendulum each, from their checkpoint on if there is one, and test them."""
    checkpoint = plan.checkpoint(name)
    training = Training(network, members)
    if (stored := checkpoint.load()) is not None:
        if "fit" in stored[1]:
            return Fit(**stored[1]["fit"])
        training.load(*stored)
    output = saved = time.monotonic()
    while training.step < updates:
        training.update()
        now = time.monotonic()
        if now - output >= NOTE_SECONDS:
            output = now
            plan.note(f"{name}: update {training.step} of {updates}, mean window {training.windows.float().mean():.0f}")
        if now - saved >= SAVE_SECONDS:
            saved = now
            training.save(checkpoint)
    result = Fit(training.errors(), training.windows.tolist(), training.seconds)
    checkpoint.save({}, {"fit": asdict(result)})
    return result


def forecast_error(pendulum: Pendulum, predicted: NDArray[Any]) -> float:
    """Return the mean squared error (J2) of scaled energies (T, 2) over the 500 steps after the training part."""
    truth = series(pendulum)
    tested = slice(pendulum.training_steps, pendulum.training_steps + TEST_STEPS)
    return float(np.square(truth.unscaled(predicted[tested]) - truth.observed[tested]).mean())


@dataclass(frozen=True, slots=True)
class Program:
    """Networks that are trained together: their name, kind and members, and how they are initialised."""

    name: str
    kind: str
    members: list[Member]
    make: Callable[[], Forecaster]


def programs(members: Sequence[Member]) -> Iterator[Program]:
    """Give the MC-LSTMs without and with damping, each as one program, and every LSTM by itself.

    One LSTM's weights stay in the processor's cache; those of many do not, and stacked they are slower.
    """
    for damped, name in ((False, "undamped"), (True, "damped")):
        group = [member for member in members if (member.pendulum.damping > 0) == damped]
        seeds = [member.first_seed for member in group]
        yield Program(f"mc-lstm-{name}-{len(group)}", MC_LSTM, group, partial(MassForecaster, seeds, damped))
    for member in members:
        name = f"lstm-{member.pendulum.number}-{member.seed}"
        yield Program(name, LSTM, [member], partial(seeded, member.first_seed, FeedbackLSTM))


def run(plan: Plan) -> Report:
    """Train both networks on the paper's 120 sets and compare their errors."""
    updates = QUICK_UPDATES if plan.quick else UPDATES
    sets = pendulums()[::QUICK_STRIDE] if plan.quick else pendulums()
    members = [Member(pendulum, seed) for pendulum in sets for seed in range(plan.seeds or 1)]
    errors: dict[str, dict[Member, float]] = {MC_LSTM: {}, LSTM: {}}
    windows: dict[str, dict[Member, int]] = {MC_LSTM: {}, LSTM: {}}
    seconds = 0.0
    for program in programs(members):
        result = fit(plan, program.name, program.make(), [member.pendulum for member in program.members], updates)
        errors[program.kind].update(zip(program.members, result.errors, strict=True))
        windows[program.kind].update(zip(program.members, result.windows, strict=True))
        seconds += result.seconds
        plan.note(f"{program.name}: mean error {np.mean(result.errors):.2g} J2")
    table = Table(
        sets,
        {kind: _by_set(errors[kind], members, len(sets)) for kind in errors},
        {kind: _by_set(windows[kind], members, len(sets)) for kind in windows},
    )
    return Report(
        title="Pendulum: two energies, 500 steps beyond the training part",
        source="Hoedt et al., MC-LSTM (ICLR 2021 submission), the pendulum experiment",
        setup=_setup(len(sets), updates, plan.seeds or 1),
        rows=table.rows(),
        seconds=seconds,
    )


def _by_set(values: Mapping[Member, float], members: Sequence[Member], sets: int) -> Array:
    """Return one figure a set: the mean over its seeds."""
    figures: Array = np.array([values[member] for member in members], float).reshape(sets, -1)
    return np.asarray(figures.mean(1))


@dataclass(frozen=True, slots=True)
class Table:
    """The errors (J2) and last windows of each kind of network, one figure a set."""

    pendulums: list[Pendulum]
    errors: dict[str, Array]
    windows: dict[str, Array]

    def rows(self) -> list[Row]:
        """Return the report's rows."""
        whole = np.ones(len(self.pendulums), bool)
        damping = np.array([pendulum.damping for pendulum in self.pendulums])
        training = np.array([pendulum.training_steps for pendulum in self.pendulums])
        return [
            *(self._mean(kind, paper) for kind, paper in ((MC_LSTM, "0.01 ± 0.04"), (LSTM, "0.05 ± 0.15"))),
            self._mean_of_training(),
            self._both("median", whole, np.median),
            self._paired(),
            *(self._both(f"mean, damping {level:g}", damping == level, np.mean) for level in np.unique(damping)),
            *(self._both(f"mean, {level} training steps", training == level, np.mean) for level in np.unique(training)),
        ]

    def _mean(self, kind: str, paper: str) -> Row:
        errors = self.errors[kind]
        values = {
            "sets": [asdict(pendulum) for pendulum in self.pendulums],
            "errors": errors.tolist(),
            "last_windows": self.windows[kind].tolist(),
        }
        return Row(f"{kind}: mean squared error, J2, ± sd over sets", paper, _spread(errors), values)

    def _mean_of_training(self) -> Row:
        """For scale: always the mean of the training part."""
        errors = []
        for pendulum in self.pendulums:
            scaled = series(pendulum).scaled
            flat = np.broadcast_to(scaled[: pendulum.training_steps].mean(0), scaled.shape)
            errors.append(forecast_error(pendulum, flat))
        return Row("always the training part's mean", "-", _spread(np.array(errors)), {"errors": errors})

    def _both(self, what: str, those: NDArray[np.bool_], middle: Callable[[Array], Any]) -> Row:
        values = {kind: float(middle(errors[those])) for kind, errors in self.errors.items()}
        ours = f"{values[MC_LSTM]:.2g} / {values[LSTM]:.2g} ({those.sum()} sets)"
        return Row(f"MC-LSTM / LSTM: {what}", "-", ours, values)

    def _paired(self) -> Row:
        ours, theirs = self.errors[MC_LSTM], self.errors[LSTM]
        p = float(stats.wilcoxon(ours, theirs, alternative="less").pvalue)
        lower = int((ours < theirs).sum())
        text = f"p = {p:.2g}; lower in {lower} of {len(ours)} sets"
        what = "MC-LSTM lower than LSTM: one-sided signed-rank test over sets"
        return Row(what, "-", text, {"p": p, "lower": lower})


def _spread(errors: Array) -> str:
    return f"{errors.mean():.4f} ± {errors.std():.4f}"


def _setup(sets: int, updates: int, seeds: int) -> dict[str, Any]:
    return {
        "sets": f"{sets} of the paper's 120: every amplitude, length, training length, noise and damping (every "
        f"{QUICK_STRIDE}th in a quick run)",
        "data": "1000 steps of 0.025 s, 1 kg, 9.81 m/s2; small-angle closed form; noise (sd in J) on both energies; "
        "each energy scaled to 0..1 by its range in the training part",
        "auxiliaries": "sin(n s), s from 0 to pi over the 1000 steps, n = " + ", ".join(map(str, data.WAVES)),
        "mc_lstm": "2 cells that start with the first scaled energies, R by softmax of a network 11-50-100-4 with "
        "ReLU, no mass input; an output gate where the set is damped, first bias -5; it also sees the auxiliaries (the "
        "published code's sees the cells alone); read-out 1.02 c - 0.01",
        "lstm": f"{CELLS} cells, input the last output and the auxiliaries, linear read-out from the cell state, "
        "PyTorch's first weights",
        "loss": "mean squared error - mean correlation over steps 1 .. tau - 1; tau from 11, 5 more (up to the "
        "training part) after each update with a loss of at most -0.9",
        "optimiser": f"Adam {RATE}, weight decay {WEIGHT_DECAY}, {updates} updates, one sequence a set",
        "overflow": "what is not finite in a gradient counts as 0",
        "selection": "the last weights, both networks",
        "seeds": seeds,
        "error": "mean squared error in J2 over both energies and the 500 steps after the training part, noise "
        "included; both networks run by themselves from step 0",
    }
