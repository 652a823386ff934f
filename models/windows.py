"""Training samples: windows of consecutive days of one basin, in an order fixed by the seed."""

import copy

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from jobspec.training import WindowsConfig
from models.arrays import days_of

Indices = npt.NDArray[np.int64]


class Windows:
    """Every window whose loss days lie in the training period and hold an observation.

    Each epoch uses the windows once, in whole batches. The batch of a step depends only on seed and step, so that a
    resumed training sees the same batches as an uninterrupted one.
    """

    def __init__(
        self,
        observed: npt.NDArray[np.bool_],
        record: Period,
        training: Period,
        config: WindowsConfig,
        seed: int,
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
