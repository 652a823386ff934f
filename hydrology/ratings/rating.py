"""Converts between stage and discharge by a rating table.

Between two points of a logarithmic table, the logarithm of discharge is linear in that of stage above an offset (the
stage of no flow), as the USGS expands its tables: Kennedy 1984, "Discharge ratings at gaging stations", TWRI 3-A10.
Points without a logarithm, and other tables, are joined by straight lines. Nothing is extrapolated.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.units import M3_PER_FT3

M_PER_FT = 0.3048
MAX_POINTS = 20_000
Expansion = Literal["logarithmic", "linear"]


class InvalidRating(InvalidInput):
    """The rating table cannot be used."""

    kind = "invalid-rating"


@dataclass(frozen=True)
class Rating:
    """A rating table: stages (m above the gauge's datum, increasing) with discharges (m3/s, never falling).

    From each of the `breakpoints` (stages, m, increasing) on, the next of the `offsets` (stage of no flow, m) holds.
    """

    stages: tuple[float, ...]
    discharges: tuple[float, ...]
    expansion: Expansion = "linear"
    offsets: tuple[float, ...] = (0.0,)
    breakpoints: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.stages) != len(self.discharges) or not 2 <= len(self.stages) <= MAX_POINTS:
            raise InvalidRating(f"A rating table needs 2 to {MAX_POINTS} points; this one has {len(self.stages)}.")
        values = np.array([*self.stages, *self.discharges, *self.offsets, *self.breakpoints])
        if not np.isfinite(values).all() or len(self.offsets) != len(self.breakpoints) + 1:
            raise InvalidRating("A rating table needs finite numbers, and a breakpoint for every offset but the first.")
        if (np.diff(self.breakpoints) <= 0).any():
            raise InvalidRating("The breakpoints of the rating table do not rise: correct the table.")
        for name, faults in (
            ("stage does not rise", np.diff(self.stages) <= 0),
            ("discharge falls", np.diff(self.discharges) < 0),
        ):
            if faults.any():
                row = int(np.argmax(faults)) + 2
                raise InvalidRating(
                    f"From point {row - 1} to point {row} of the rating table {name}: correct the table."
                )
        if self.discharges[0] < 0 or self.discharges[0] == self.discharges[-1]:
            raise InvalidRating("Discharges of a rating table start at 0 or above and rise: correct the table.")

    def discharge(self, stage: npt.ArrayLike) -> Array:
        """Return discharges in m3/s for stages in m, any shape; NaN outside the table."""
        wanted = np.asarray(stage, np.float64)
        at = np.clip(np.searchsorted(self._h, wanted, side="right") - 1, 0, len(self._h) - 2)
        low, high = self._q[at], self._q[at + 1]
        logs, zero = self._logarithmic[at], self._zero[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            straight = low + (wanted - self._h[at]) / (self._h[at + 1] - self._h[at]) * (high - low)
            share = np.log((wanted - zero) / (self._h[at] - zero)) / np.log(
                (self._h[at + 1] - zero) / (self._h[at] - zero)
            )
            curved = low * (high / low) ** share
        return self._within(np.where(logs, curved, straight), wanted, self._h, low, high)

    def stage(self, discharge: npt.ArrayLike) -> Array:
        """Return the (lowest) stages in m for discharges in m3/s, any shape; NaN outside the table."""
        wanted = np.asarray(discharge, np.float64)
        at = np.clip(np.searchsorted(self._q, wanted, side="left") - 1, 0, len(self._q) - 2)
        low, high = self._h[at], self._h[at + 1]
        logs, zero = self._logarithmic[at], self._zero[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = self._q[at + 1] - self._q[at]
            straight = low + np.where(rise > 0, (wanted - self._q[at]) / np.where(rise > 0, rise, 1), 0) * (high - low)
            share = np.log(wanted / self._q[at]) / np.log(self._q[at + 1] / self._q[at])
            curved = zero + (low - zero) * ((high - zero) / (low - zero)) ** share
        return self._within(np.where(logs & (rise > 0), curved, straight), wanted, self._q, low, high)

    def why_no_stage(self, discharge: float) -> Absent:
        """Return the reason why a discharge, m3/s, has no stage."""
        return absent(
            Reason.OUTSIDE_RATING, discharge=discharge, lowest=self.discharges[0], highest=self.discharges[-1]
        )

    def why_no_discharge(self, stage: float) -> Absent:
        """Return the reason why a stage, m, has no discharge."""
        ends = [end / M_PER_FT for end in (stage, self.stages[0], self.stages[-1])]
        return absent(Reason.STAGE_OUTSIDE_RATING, **dict(zip(("stage", "lowest", "highest"), ends, strict=True)))

    @cached_property
    def _h(self) -> Array:
        return np.array(self.stages)

    @cached_property
    def _q(self) -> Array:
        return np.array(self.discharges)

    @cached_property
    def _zero(self) -> Array:
        """The stage of no flow of each step between points."""
        return np.array(self.offsets)[np.searchsorted(self.breakpoints, self._h[:-1], side="right")]

    @cached_property
    def _logarithmic(self) -> Mask:
        logarithmic = self.expansion == "logarithmic"
        return np.asarray(logarithmic & (self._h[:-1] > self._zero) & (self._q[:-1] > 0) & (np.diff(self._q) > 0))

    @staticmethod
    def _within(found: Array, wanted: Array, known: Array, low: Array, high: Array) -> Array:
        inside = (wanted >= known[0]) & (wanted <= known[-1])
        return np.where(inside, np.clip(found, low, high), np.nan)


def from_us_units(
    stages_ft: npt.ArrayLike,
    discharges_cfs: npt.ArrayLike,
    expansion: Expansion,
    offsets_ft: tuple[float, ...] = (0.0,),
    breakpoints_ft: tuple[float, ...] = (),
) -> Rating:
    """Return the rating of a table in feet and cubic feet per second."""
    stages, discharges = np.asarray(stages_ft, np.float64), np.asarray(discharges_cfs, np.float64)
    return Rating(
        tuple((stages * M_PER_FT).tolist()),
        tuple((discharges * M3_PER_FT3).tolist()),
        expansion,
        tuple(offset * M_PER_FT for offset in offsets_ft),
        tuple(stage * M_PER_FT for stage in breakpoints_ft),
    )
