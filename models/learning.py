"""What a training learns from: windows of days, their loss, and the score of a validation period."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem
from hydrology.scores.scores import nse
from jobspec.training import TrainingConfig, WindowsConfig
from models.contract import Inputs, Network
from models.ensemble import simulate
from models.forcing import Array, Forcing, Scaler, days_of, with_energy

NSE_EPSILON = 0.1  # mm/day, limits the weight of basins with little flow


def loss_of(simulated: Tensor, observed: Tensor, sd: Tensor, config: TrainingConfig) -> Tensor:
    """Return the loss of a training over the observed days (T, B), a scalar; arguments as of `nse_of_days`.

    A share on the logarithm of the flow, ln(q + 0.1 mm/day), counts errors at low flow as much as at high flow.
    """
    known = (~torch.isnan(observed)).sum()
    one = torch.ones_like(sd)
    scale = sd + NSE_EPSILON if config.loss == "nse*" else one
    loss = _squared_errors(simulated, observed, scale, config.expectile).sum() / known
    if config.loss == "rmse":
        loss = loss.sqrt()
    if config.log_share:
        log_simulated, log_observed = (torch.log(flow.clamp_min(0) + NSE_EPSILON) for flow in (simulated, observed))
        of_logs = _squared_errors(log_simulated, log_observed, one, config.expectile).sum() / known
        loss = torch.lerp(loss, of_logs, config.log_share)
    return loss


def nse_of_days(simulated: Tensor, observed: Tensor, sd: Tensor, expectile: float = 0.5) -> Tensor:
    """Return (q_sim - q_obs)^2 / (s_b + 0.1)^2 of every day, 0 where nothing was observed (NaN).

    The mean over observed days is the basin-averaged Nash-Sutcliffe loss NSE* [K19], which estimates the mean of the
    possible observations. An expectile above 0.5 [Newey and Powell 1987] estimates a little more, most where the
    network is least certain: errors of too little flow count for more; 0.5 is NSE*. Flows and `sd`, s_b of the basin's
    discharge in the training period, are in mm/day and broadcast.
    """
    return _squared_errors(simulated, observed, sd + NSE_EPSILON, expectile)


def _squared_errors(simulated: Tensor, observed: Tensor, scale: Tensor, expectile: float) -> Tensor:
    known = ~torch.isnan(observed)
    # Missing observations are replaced first: a NaN masked afterwards still back-propagates.
    error = torch.where(known, simulated - torch.nan_to_num(observed), 0.0) / scale
    weight = 1 + (1 - 2 * expectile) * error.sign()  # 2 expectile where too low, 2 - 2 expectile where too high
    return weight * error.square()


Indices = npt.NDArray[np.int64]


class Windows:
    """Every window whose loss days lie in the training period and hold an observation.

    Each epoch uses the windows once, in whole batches. The batch of a step depends only on seed and step, so that a
    resumed training sees the same batches as an uninterrupted one.
    """

    def __init__(
        self, observed: npt.NDArray[np.bool_], record: Period, training: Period, config: WindowsConfig, seed: int
    ) -> None:
        """Find the windows where discharge is known, (N, days); DataProblem where none fits."""
        self.config, self.seed = config, seed
        self._newest_order: tuple[int, Indices] | None = None  # of the windows in an epoch
        days = days_of(record, training)
        before = max(days.start, config.spinup_days)
        starts = np.arange(before, days.stop - config.loss_days + 1)  # of the loss days
        counts = np.pad(np.cumsum(observed, axis=1), ((0, 0), (1, 0)))
        known = counts[:, starts + config.loss_days] - counts[:, starts] if len(starts) else counts[:, :0]
        self.basins, at = np.nonzero(known)
        self.starts = starts[at] - config.spinup_days
        if not len(self.basins):
            raise DataProblem(
                f"No training window of {config.spinup_days} spin-up and {config.loss_days} loss days with "
                f"an observed discharge fits into {training} (the record begins {record.first}): take a longer "
                "training period or shorter windows."
            )
        self.batch_size = min(config.batch, len(self.basins))
        self.batches_per_epoch = len(self.basins) // self.batch_size

    def of_seed(self, seed: int) -> "Windows":
        """Return the same windows in the order of another seed."""
        other = copy.copy(self)
        other.seed, other._newest_order = seed, None
        return other

    def batch(self, step: int) -> tuple[Indices, Indices]:
        """Return basins and first days (indices, one a sample) of a step's windows."""
        epoch, position = divmod(step, self.batches_per_epoch)
        chosen = self._order(epoch)[position * self.batch_size : (position + 1) * self.batch_size]
        return self.basins[chosen], self.starts[chosen]

    def _order(self, epoch: int) -> Indices:
        if self._newest_order is None or self._newest_order[0] != epoch:
            self._newest_order = epoch, np.random.default_rng([self.seed, epoch]).permutation(len(self.basins))
        return self._newest_order[1]


SPIN_UP_DAYS = 365  # before the validation period, as far as the record reaches


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Data of a training: N basins, without gaps unless the network skips them; discharge (N, days), mm/day or NaN."""

    forcing: Forcing
    discharge: Array


def days_learnt_or_judged(config: TrainingConfig) -> Period:
    """Return the days from the first to the last of a training's two periods."""
    training, validation = config.train_period, config.validation_period or config.train_period
    return Period(min(training.first, validation.first), max(training.last, validation.last))


def days_of_training(config: TrainingConfig, starts: Iterable[Day]) -> Period:
    """Return the days that a training reads, with those of its spin-up, of records that start on some days."""
    wanted = days_learnt_or_judged(config)
    earliest = wanted.first - np.timedelta64(max(SPIN_UP_DAYS, config.windows.spinup_days), "D")
    return Period(min(max([earliest, *starts]), wanted.first), wanted.last)


class MedianNSE(NamedTuple):
    """The median NSE over the basins that have one, and their number."""

    value: float
    basins: int


@dataclass(frozen=True, slots=True)
class Validation:
    """The validation period, after a spin-up of a year or what the record has.

    Observations are (basins, days of the period), of the basins that have some; `energy` where the network needs it.
    """

    period: Period
    forcing: Forcing
    observed: Array
    energy: tuple[Array, Array] | None

    @classmethod
    def of(cls, data: TrainingData, period: Period, energy: tuple[Array, Array] | None = None) -> Self:
        """Return the validation of some data in a period; `energy` is that of their forcing, if needed."""
        record = data.forcing.period
        first = max(record.first, period.first - np.timedelta64(SPIN_UP_DAYS, "D"))
        simulated = Period(first, period.last)
        observed = data.discharge[:, days_of(record, period)]
        scored = np.flatnonzero((~np.isnan(observed)).any(axis=1))
        if energy is not None:
            temperature, pet = (values[scored, days_of(record, simulated)] for values in energy)
            energy = temperature, pet
        return cls(period, data.forcing.over(simulated).basins(scored), observed[scored], energy)

    def inputs(self, scaler: Scaler, device: torch.device | str, learnt_from: Sequence[str]) -> Inputs:
        """Return the inputs of a network; `learnt_from` are the ids of the basins that it learnt from."""
        inputs = scaler.inputs(self.forcing, torch.float32, device, learnt_from)
        return inputs if self.energy is None else with_energy(inputs, *self.energy)

    def score_of(self, network: Network, scaler: Scaler, learnt_from: Sequence[str]) -> MedianNSE:
        """Return the median NSE of a network."""
        inputs = self.inputs(scaler, next(network.parameters()).device, learnt_from)
        outputs, _ = simulate(network, inputs, None, wanted=("discharge",))
        return self.score(outputs["discharge"].astype(np.float32))

    def score(self, discharge: Array) -> MedianNSE:
        """Return the median NSE of a simulation (basins, days) that begins before the period, or DataProblem."""
        simulated = discharge[:, -len(self.period) :]
        values = [nse(s, o).value for s, o in zip(simulated, self.observed, strict=True)]
        known = [value for value in values if value is not None]
        if not known:
            raise DataProblem(
                f"No basin has the observed discharge for an NSE in the validation period {self.period}: choose "
                "another."
            )
        return MedianNSE(float(np.median(known)), len(known))
