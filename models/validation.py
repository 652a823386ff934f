"""Scores networks in the validation period of a training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.scores.scores import nse
from models.arrays import Array, Forcing, days_of
from models.contract import Network
from models.energy import with_energy
from models.inference import simulate
from models.inputs import Inputs
from models.scaling import Scaler

SPIN_UP_DAYS = 365  # before the validation period, as far as the record reaches


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Data of a training: N basins, without gaps unless the network skips them; discharge (N, days), mm/day or NaN."""

    forcing: Forcing
    discharge: Array


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
        """Return the median NSE of a simulation (basins, days) that begins before the period.

        Raises:
            DataProblem: no basin has the observations for an NSE in this period.
        """
        simulated = discharge[:, -len(self.period) :]
        values = [nse(s, o).value for s, o in zip(simulated, self.observed, strict=True)]
        known = [value for value in values if value is not None]
        if not known:
            raise DataProblem(
                f"No basin has the observed discharge for an NSE in the validation period {self.period}: choose "
                "another."
            )
        return MedianNSE(float(np.median(known)), len(known))
