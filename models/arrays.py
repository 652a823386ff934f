"""Arrays for training and running networks: many basins over one period."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Day, Period

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Forcing:
    """Forcing and attributes of N basins over consecutive days, NaN where a value is missing.

    Attributes:
        mass: (N, days), precipitation in mm/day.
        auxiliary: (N, days, L), in their own units.
        static: (N, S), in their own units.
    """

    first: Day
    mass: Array
    auxiliary: Array
    static: Array
    ids: tuple[str, ...]

    @property
    def period(self) -> Period:
        return Period(self.first, self.first + np.timedelta64(self.mass.shape[1] - 1, "D"))

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Whether a day lacks any of its forcing, (N, days)."""
        missing: npt.NDArray[np.bool_] = np.isnan(self.mass) | np.isnan(self.auxiliary).any(axis=-1)
        return missing

    def over(self, period: Period) -> Self:
        """Return the forcing of a period within this one."""
        days = days_of(self.period, period)
        return type(self)(period.first, self.mass[:, days], self.auxiliary[:, days], self.static, self.ids)

    def basins(self, chosen: slice | npt.NDArray[np.int64]) -> Self:
        ids = tuple(np.array(self.ids)[chosen].tolist())
        return type(self)(self.first, self.mass[chosen], self.auxiliary[chosen], self.static[chosen], ids)


def places(ids: Sequence[str], learnt_from: Iterable[str]) -> npt.NDArray[np.int64]:
    """Return each basin's index among those that a network learnt from, sorted by id; -1 for any other."""
    place = {basin: at for at, basin in enumerate(sorted(learnt_from))}
    return np.array([place.get(basin, -1) for basin in ids], np.int64)


def days_of(whole: Period, part: Period) -> slice:
    """Return the slice of the days of `part` within the days of `whole`."""
    first = int((part.first - whole.first).astype(int))
    last = int((part.last - whole.first).astype(int))
    if first < 0 or last >= len(whole):
        raise ValueError(f"{part} is not inside {whole}")
    return slice(first, last + 1)
