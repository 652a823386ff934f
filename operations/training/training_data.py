"""The data of a training.

The basins that can be used, and their arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.digests import inputs_sha256
from hydrology.base.errors import DataProblem, counted
from hydrology.base.reasons import Reason
from jobspec.training import TrainingConfig
from models.arrays import Array, days_of
from models.validation import SPIN_UP_DAYS, TrainingData
from operations.basin_data.dataset import BasinForcing, load_discharge, load_forcing, stacked


class NoBasinLeft(DataProblem):
    """No basin can serve for this training."""

    kind = "no-basin-left"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data of a training, and the basins that it cannot use."""

    basins: tuple[str, ...]
    data: TrainingData
    left_out: dict[str, Absent]

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
    left_out: dict[str, Absent] = {}
    for basin in basins:
        found = load_forcing(session, basin, config)
        if not isinstance(found, Absent):
            found = found.covering(wanted)
        if isinstance(found, Absent):
            left_out[basin] = found
        else:
            forcings[basin] = found
    period = _common(forcings, wanted, max(SPIN_UP_DAYS, config.windows.spinup_days))
    stored: dict[str, Array] = {}
    for basin in forcings:
        flow = load_discharge(session, basin, [config.inputs.product], period)
        if isinstance(flow, Absent):
            left_out[basin] = flow
            continue
        if config.held_out_period is not None:
            flow[days_of(period, config.held_out_period)] = np.nan
        if reason := _unfit(basin, flow[days_of(period, training)], training):
            left_out[basin] = reason
        else:
            stored[basin] = flow
    if not stored:
        raise NoBasinLeft(
            f"None of the {counted(len(basins), 'basin')} can serve for this training. {first_texts(left_out)}"
        )
    if all(np.isnan(flow[days_of(period, validation)]).all() for flow in stored.values()):
        raise NoBasinLeft(f"No basin has observed discharge in the validation period {validation}: choose another.")
    forcing = stacked([forcings[basin].forcing.over(period) for basin in stored])
    return Prepared(tuple(stored), TrainingData(forcing, np.stack(list(stored.values()))), left_out)


def _common(forcings: dict[str, BasinForcing], wanted: Period, before: int) -> Period:
    earliest = wanted.first - np.timedelta64(before, "D")
    first = max([earliest, *(one.period.first for one in forcings.values())])
    return Period(min(first, wanted.first), wanted.last)


def _unfit(basin: str, discharge: Array, training: Period) -> Absent | None:
    known = discharge[~np.isnan(discharge)]
    if len(known) == 0:
        return absent(Reason.NO_DISCHARGE_IN_TRAINING, basin=basin, period=str(training))
    if (known == known[0]).all():
        return absent(Reason.CONSTANT_DISCHARGE, basin=basin, flow=float(known[0]), period=str(training))
    return None
