"""The data of a training.

The basins that can be used, and their arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.digests import inputs_sha256
from hydrology.base.errors import DataProblem
from jobspec.training import TrainingConfig
from models.arrays import Array, days_of
from models.training import SPIN_UP_DAYS, TrainingData
from operations.data.dataset import BasinForcing, load_discharge, load_forcing, stacked


class NoBasinLeft(DataProblem):
    """No basin can serve for this training."""

    kind = "no-basin-left"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data of a training, and the basins that it cannot use.

    Attributes:
        left_out: why, by basin.
    """

    basins: tuple[str, ...]
    data: TrainingData
    left_out: dict[str, str]

    @property
    def data_hash(self) -> str:
        """The fingerprint of all numbers of the training data."""
        forcing = self.data.forcing
        return inputs_sha256(forcing.mass, forcing.auxiliary, forcing.static, self.data.discharge)


def prepare(session: Session, config: TrainingConfig, basins: Sequence[str]) -> Prepared:
    """Read the data of a training, and find the basins that cannot be used and why.

    Raises:
        NoBasinLeft: none can.
    """
    training, validation = config.train_period, config.validation_period or config.train_period
    wanted = Period(min(training.first, validation.first), max(training.last, validation.last))
    forcings: dict[str, BasinForcing] = {}
    left_out: dict[str, str] = {}
    for basin in basins:
        found = load_forcing(session, basin, config)
        if isinstance(found, str):
            left_out[basin] = found
        elif found.period.first > wanted.first or found.period.last < wanted.last:
            left_out[basin] = found.stop or f"{basin}: the forcing {found.period} does not cover {wanted}."
        else:
            forcings[basin] = found
    period = _common(forcings, wanted, max(SPIN_UP_DAYS, config.windows.spinup_days))
    stored: dict[str, Array] = {}
    for basin in forcings:
        flow = load_discharge(session, basin, [config.inputs.product], period)
        if isinstance(flow, str):
            left_out[basin] = flow
            continue
        if config.held_out_period is not None:
            flow[days_of(period, config.held_out_period)] = np.nan
        if reason := _unfit(basin, flow[days_of(period, training)], training):
            left_out[basin] = reason
        else:
            stored[basin] = flow
    if not stored:
        reasons = " ".join(list(left_out.values())[:3])
        raise NoBasinLeft(f"None of the {len(basins)} basins can serve for this training. {reasons}")
    if all(np.isnan(flow[days_of(period, validation)]).all() for flow in stored.values()):
        raise NoBasinLeft(f"No basin has observed discharge in the validation period {validation}: choose another.")
    forcing = stacked([forcings[basin].forcing.over(period) for basin in stored])
    return Prepared(tuple(stored), TrainingData(forcing, np.stack(list(stored.values()))), left_out)


def _common(forcings: dict[str, BasinForcing], wanted: Period, before: int) -> Period:
    """Extend the wanted period by as many days before it as all basins have."""
    earliest = wanted.first - np.timedelta64(before, "D")
    first = max([earliest, *(one.period.first for one in forcings.values())])
    return Period(min(first, wanted.first), wanted.last)


def _unfit(basin: str, discharge: Array, training: Period) -> str | None:
    known = discharge[~np.isnan(discharge)]
    if len(known) == 0:
        return f"{basin} has no observed discharge in the training period {training}."
    if (known == known[0]).all():
        return f"{basin}: the observed discharge is constant ({known[0]:g} mm/day) in the training period {training}."
    return None
