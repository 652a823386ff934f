"""What networks take and return: inputs, states, outputs, and the scales of water.

Shapes: T days, B samples (basins or windows), M mass inputs, L auxiliary inputs, S static attributes, K cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

State = dict[str, Tensor]
"""The named tensors that a network carries from day to day, each with B first."""

Outputs = Mapping[str, Tensor]
"""Named results. Every network returns `discharge` (T, B) in mm/day, NaN on skipped days. One that conserves mass also
returns `loss` (T, B) in mm/day and `storage` (T, B, K) in mm; and where its state has `tags` (B, K, G), the tagged
water of its cells, `discharge_by_tag` and `loss_by_tag` (T, B, G) in mm/day."""


DAILY = ("mass", "auxiliary", "temperature", "pet", "elapsed", "mask")
"""The inputs with the axes (T, B)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a network.

    Attributes:
        mass: (T, B, M), the water that enters, in mm/day, never scaled.
        auxiliary: (T, B, L), standardised.
        static: (B, S), standardised.
        basin: (B,), the index of each sample's basin among those that the network learnt from, in the order of their
            ids; -1 for any other. None: all are others.
        temperature: (T, B), mean of the day in degC; None unless the network's `sees_energy` is true.
        pet: (T, B), potential evapotranspiration in mm/day; None likewise.
        elapsed: (T, B), days since the step before; None where every step is one day.
        mask: (T, B), False where a day's forcing is missing; None where none is. Only networks whose
            `skips_gaps` is true accept it.
        tag: (T,), the tag of the water that falls on each day, from 0; None without tags.
    """

    mass: Tensor
    auxiliary: Tensor
    static: Tensor
    basin: Tensor | None = None
    temperature: Tensor | None = None
    pet: Tensor | None = None
    elapsed: Tensor | None = None
    mask: Tensor | None = None
    tag: Tensor | None = None

    def between(self, first: int, last: int) -> "Inputs":
        """Return the steps first, ..., last - 1."""
        by_day: dict[str, Any] = {name: getattr(self, name) for name in (*DAILY, "tag")}
        some = {name: values[first:last] for name, values in by_day.items() if values is not None}
        return replace(self, **some)

    def of_samples(self, chosen: Any) -> "Inputs":
        """Return some of the samples, by any index of a tensor."""
        daily: dict[str, Any] = {name: getattr(self, name) for name in DAILY}
        some = {name: values[:, chosen] for name, values in daily.items() if values is not None}
        basin = None if self.basin is None else self.basin[chosen]
        return replace(self, static=self.static[chosen], basin=basin, **some)


@dataclass(frozen=True, slots=True)
class WaterScales:
    """Mean and standard deviation of the water in a training, pooled over basins and days, in mm/day."""

    mass_mean: float
    mass_sd: float
    discharge_mean: float
    discharge_sd: float
