"""Trains one member: from windows to weights, with checkpoints that resume bit for bit."""

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, NonNegativeInt, ValidationError
from torch import Tensor, nn

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from jobspec.training import Cosine, Staircase, TrainingConfig
from models import checkpoint
from models.adamw import AdamW
from models.checkpoint import Tensors
from models.contract import Inputs, VectorPrior, WaterScales
from models.forcing import Array, Forcing, Scaler, days_of, energy, with_energy
from models.learning import MedianNSE, TrainingData, Validation, Windows, loss_of
from models.networks import build

Curve = dict[str, list[float]]
"""Values by step: `step`, from 1, its `loss`, `learning_rate` and `gradient_norm`, before the norm is limited."""
MAX_RECORDED = 1000
"""The most steps of a training curve: a longer training records every second, every third and so on, and the last."""


class TrainingDiverged(DataProblem):
    """The loss is no longer a number."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a training after a step."""

    step: int
    steps: int
    loss: float
    rate: float
    validation: MedianNSE | None


@dataclass(slots=True)
class TrainedMember:
    """The weights of a member.

    Attributes:
        last: after the last step; the mean of the last ones, if they are averaged.
        best: at the highest median NSE of the validation basins; None without a validation period.
        log: a row per validation (step, loss, median validation NSE, its basins); of initial weights, one at step 0.
        curve: of its steps, at most `MAX_RECORDED`.
        seconds: of its steps, without validations: of all cores together on a CPU, by the clock on a GPU.
    """

    last: Tensors
    best: Tensors | None
    log: list[dict[str, Any]]
    curve: Curve
    seconds: float


class _CheckpointHeader(BaseModel):
    """The progress of a training in a checkpoint."""

    step: NonNegativeInt
    best_nse: float | None
    log: list[dict[str, Any]]
    curve: Curve
    seconds: float


def learning_rate(schedule: Cosine | Staircase, step: int, steps: int, steps_per_epoch: int) -> float:
    """Return the rate of a step, counted from 0."""
    if isinstance(schedule, Staircase):
        epoch = step // steps_per_epoch
        return next(rate for first, rate in reversed(schedule.rates) if epoch >= first)
    if step < schedule.warmup_steps:
        return schedule.peak_learning_rate * (step + 1) / schedule.warmup_steps
    done = (step - schedule.warmup_steps) / max(1, steps - schedule.warmup_steps)
    final = min(schedule.final_learning_rate, schedule.peak_learning_rate)
    return final + (schedule.peak_learning_rate - final) * (1 + math.cos(math.pi * done)) / 2


class MemberTraining:
    """The training of one member, from a seed or from a trained member's weights, with that member's scaler.

    Args:
        learnt_from: the basins that it will have learnt from: those of the data, and the trained member's.
        beside: another member of the same training; what depends on no seed is taken from it.
    """

    def __init__(
        self,
        config: TrainingConfig,
        data: TrainingData,
        scaler: Scaler,
        seed: int,
        device: str = "cpu",
        start: Tensors | None = None,
        learnt_from: Sequence[str] = (),
        beside: "MemberTraining | None" = None,
    ) -> None:
        self.config, self.data, self.scaler, self.device = config, data, scaler, device
        self.learnt_from = tuple(learnt_from) or data.forcing.ids
        self.network = build(config.network, config.inputs, seed, basins=len(self.learnt_from))
        if start is None:
            self.network.scale_to(water_scales(data, config.train_period))
        else:
            self.network.load_state_dict(start)  # the scales of the water among them
        self.started = start is not None
        self.network.hide(config.unseen_by(seed))
        self.network.to(device).train()
        # (N, days) each, for the windows
        self.energy = energy(data.forcing, config.inputs) if self.network.sees_energy else None
        self.prior: VectorPrior | None = None
        if config.fitted == "basin_vectors":
            vectors = self.network.basin_vectors
            assert vectors is not None
            self.network.requires_grad_(False)
            vectors.table.requires_grad_(True)
            vectors.dropout, self.prior = 0.0, VectorPrior(vectors.table)
        self.fitted = [weights for weights in self.network.parameters() if weights.requires_grad]
        self.optimizer = self._optimizer()
        self.average = copy.deepcopy(self.network).eval()
        self.network.half_products = config.precision == "bfloat16"  # not the average: it is judged as it is served
        if beside is None:
            self.observed, self.sd, self.windows = self._samples_of(seed)
        else:
            self.observed, self.sd, self.windows = beside.observed, beside.sd, beside.windows.of_seed(seed)
        schedule, epoch = config.schedule, self.windows.batches_per_epoch
        self.steps = schedule.steps if isinstance(schedule, Cosine) else schedule.epochs * epoch
        self.seed, self.step, self.best_nse, self.seconds = seed, 0, -math.inf, 0.0
        # Other load on the machine slows a step down, but adds nothing to its CPU seconds.
        self._clock = time.process_time if device == "cpu" else time.perf_counter
        self.best: Tensors | None = None
        self.log: list[dict[str, Any]] = []
        self.curve: Curve = {"step": [], "loss": [], "learning_rate": [], "gradient_norm": []}

    def _samples_of(self, seed: int) -> tuple[Array, Array, Windows]:
        """Return the observations that are fitted, s_b of the basins, and the windows in the order of a seed."""
        training, record = self.config.train_period, self.data.forcing.period
        # A day that the network skips has no simulation to compare with the observation.
        observed = np.where(self.data.forcing.missing, np.float32(np.nan), self.data.discharge)
        windows = Windows(~np.isnan(observed), record, training, self.config.windows, seed)
        sd = np.nanstd(self.data.discharge[:, days_of(record, training)], axis=1, dtype=np.float64)
        return observed, sd, windows

    def run(
        self,
        on_checkpoint: Callable[[int, bytes], None] = lambda _step, _blob: None,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
    ) -> TrainedMember:
        """Train to the end, or until `on_progress`, called at every step, raises; there is a last checkpoint then.

        `on_checkpoint` gets the step count and a blob for `resume`, every `checkpoint_every` steps. TrainingDiverged:
        the loss is not finite.
        """
        if self.started and self.step == 0 and self.config.validation_period is not None:
            self._validate(None)
        while self.step < self.steps:
            started_at = self._clock()
            loss, rate = self._step()
            self.seconds += self._clock() - started_at
            is_last = self.step == self.steps
            due = self.step % self.config.validate_every == 0 or is_last
            validation = self._validate(loss) if due and self.config.validation_period is not None else None
            try:
                on_progress(Progress(self.step, self.steps, loss, rate, validation))
            except BaseException:
                on_checkpoint(self.step, self.checkpoint())
                raise
            if self.step % self.config.checkpoint_every == 0 or is_last:
                on_checkpoint(self.step, self.checkpoint())
        return self.trained()

    def trained(self) -> TrainedMember:
        return TrainedMember(_copy(self.average), self.best, self.log, self.curve, self.seconds)

    def checkpoint(self) -> bytes:
        """Encode everything on which the rest of the training depends."""
        tensors = checkpoint.prefixed("network.", _copy(self.network))
        tensors |= checkpoint.prefixed("average.", _copy(self.average))
        tensors |= checkpoint.prefixed("optimizer.", checkpoint.optimizer_tensors(self.optimizer))
        tensors |= checkpoint.prefixed("best.", self.best or {})
        best_nse = self.best_nse if math.isfinite(self.best_nse) else None
        header = _CheckpointHeader(
            step=self.step, best_nse=best_nse, log=self.log, curve=self.curve, seconds=self.seconds
        )
        return checkpoint.dump(tensors, header.model_dump())

    def resume(self, blob: bytes) -> None:
        """Resume from a checkpoint of the same training; DataProblem where it is another's or cannot be read."""
        tensors, fields = checkpoint.parse(blob)
        network, average, optimizer, best = (
            checkpoint.under(prefix, tensors) for prefix in ("network.", "average.", "optimizer.", "best.")
        )
        shapes = _shapes(self.network.state_dict())
        fits = all(_shapes(weights) == shapes for weights in (network, average, *([best] if best else [])))
        try:
            header = _CheckpointHeader.model_validate(fields)
        except ValidationError:
            fits = False
        fits = fits and checkpoint.fits_optimizer(self.optimizer, optimizer) and (header.step == 0 or bool(optimizer))
        if not fits:
            raise DataProblem("The checkpoint belongs to another training, or is damaged: start the training again.")
        self.network.load_state_dict(network)
        self.average.load_state_dict(average)
        checkpoint.restore_optimizer(self.optimizer, optimizer)
        self.best = best or None
        self.step, self.log, self.curve, self.seconds = header.step, header.log, header.curve, header.seconds
        self.best_nse = -math.inf if header.best_nse is None else header.best_nse

    def diverged(self, loss: float, norm: float, rate: float) -> TrainingDiverged:
        return TrainingDiverged(
            f"The loss became {loss} (gradient norm {norm}) at step {self.step} of {self.steps}, learning rate "
            f"{rate:g}: use a lower learning rate, or look for impossible values in the forcing."
        )

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        return learning_rate(self.config.schedule, step, self.steps, self.windows.batches_per_epoch)

    def record(self, step: int, loss: float, norm: float) -> None:
        """Add a step, counted from 1, to the training curve if it is one of those to record."""
        if step % math.ceil(self.steps / MAX_RECORDED) == 0 or step == self.steps:
            for column, value in zip(self.curve.values(), (step, loss, self.rate(step - 1), norm), strict=True):
                column.append(value)

    def average_share(self, step: int) -> float:
        """Return the share of the mean weights that a step, from 1, retains: early steps are soon forgotten."""
        return min(self.config.ema_decay, step / (step + 10))

    def _step(self) -> tuple[float, float]:
        rate = self.rate(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        inputs, observed, sd = self._samples(self.step)
        with self.randomness(self.step):
            outputs, _ = self.network(inputs)
        simulated = outputs["discharge"][self.config.windows.spinup_days :]
        loss = loss_of(simulated, observed, sd, self.config)
        self.optimizer.zero_grad()
        (loss + self._prior_penalty(inputs)).backward()
        norm = nn.utils.clip_grad_norm_(self.fitted, self.config.clip_norm)
        self.step += 1
        if not (torch.isfinite(loss) and torch.isfinite(norm)):
            raise self.diverged(loss.item(), norm.item(), rate)
        self.optimizer.step()
        share = self.average_share(self.step)
        with torch.no_grad():
            for mean, now in zip(self.average.parameters(), self.network.parameters(), strict=True):
                mean.lerp_(now, 1 - share)
        self.record(self.step, loss.item(), norm.item())
        return loss.item(), rate

    @contextmanager
    def randomness(self, step: int) -> Iterator[None]:
        """Draw what dropout needs from a seed of the step: a resumed training drops what an uninterrupted one does."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(np.random.SeedSequence([self.seed, step]).generate_state(1, np.uint64)[0]))
            yield

    def _optimizer(self) -> AdamW:
        vectors = self.network.basin_vectors
        decay = [weights for weights in self.fitted if vectors is None or weights is not vectors.table]
        others = [weights for weights in self.fitted if vectors is not None and weights is vectors.table]
        groups = [{"params": decay, "weight_decay": self.config.weight_decay}, {"params": others, "weight_decay": 0.0}]
        return AdamW([group for group in groups if group["params"]])

    def _prior_penalty(self, inputs: Inputs) -> Tensor | float:
        vectors = self.network.basin_vectors
        if self.prior is None or vectors is None or inputs.basin is None:
            return 0.0
        return self.prior.penalty(vectors.table[inputs.basin])

    def _samples(self, step: int) -> tuple[Inputs, Tensor, Tensor]:
        """Return a step's inputs, the observations of its loss days (T, B), and s_b (B,)."""
        basins, starts = self.windows.batch(step)
        shape = self.config.windows
        days = starts[:, None] + np.arange(shape.spinup_days + shape.loss_days)
        of, forcing = basins[:, None], self.data.forcing
        ids = tuple(forcing.ids[basin] for basin in basins)
        mass, auxiliary = forcing.mass[of, days], forcing.auxiliary[of, days]
        window = Forcing(forcing.first, mass, auxiliary, forcing.static[basins], ids)
        inputs = self.scaler.inputs(window, torch.float32, self.device, self.learnt_from)
        if self.energy is not None:
            inputs = with_energy(inputs, *(values[of, days] for values in self.energy))
        observed = self.observed[of, days[:, shape.spinup_days :]]
        as_tensor = partial(torch.as_tensor, dtype=torch.float32, device=self.device)
        return inputs, as_tensor(observed.T), as_tensor(self.sd[basins])

    def _validate(self, loss: float | None) -> MedianNSE:
        assert self.config.validation_period is not None
        validation = Validation.of(self.data, self.config.validation_period, self.energy)
        return self.judge(validation.score_of(self.average, self.scaler, self.learnt_from), loss)

    def judge(self, score: MedianNSE, loss: float | None) -> MedianNSE:
        """Log the score of the averaged weights, and store these if they are the best so far."""
        self.log.append(
            {"step": self.step, "loss": loss, "validation_nse": score.value, "validation_basins": score.basins}
        )
        if score.value > self.best_nse:
            self.best_nse, self.best = score.value, _copy(self.average)
        return score


def water_scales(data: TrainingData, training: Period) -> WaterScales:
    """Return the scales of the water over the training period, in float64; the standard deviation is 1 without rain."""
    days = days_of(data.forcing.period, training)
    mass, discharge = (values[:, days].astype(np.float64) for values in (data.forcing.mass, data.discharge))
    means, sds = ([float(f(values)) for values in (mass, discharge)] for f in (np.nanmean, np.nanstd))
    return WaterScales(means[0], sds[0] or 1.0, means[1], sds[1] or 1.0)


def _shapes(weights: Tensors) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in weights.items()}


def _copy(network: nn.Module) -> Tensors:
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
