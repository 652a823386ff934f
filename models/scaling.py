"""Standardisation of auxiliaries and statics. The water itself is never scaled."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import torch

from models.arrays import Forcing, places
from models.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Scaler:
    """Means and standard deviations of L dynamic inputs and S attributes over a training's basins and days.

    An attribute that all basins share has the standard deviation 1 here, so that it enters as 0.
    """

    auxiliary_mean: tuple[float, ...]
    auxiliary_sd: tuple[float, ...]
    static_mean: tuple[float, ...]
    static_sd: tuple[float, ...]

    @classmethod
    def fit(cls, training: Forcing) -> Self:
        """Fit to the forcing of the training period. Sums in float64, missing days left out."""
        auxiliary = training.auxiliary.astype(np.float64)
        static = training.static.astype(np.float64)
        return cls(
            _row(np.nanmean(auxiliary, (0, 1))),
            _row(_one_where_constant(np.nanstd(auxiliary, (0, 1)))),
            _row(static.mean(0)),
            _row(_one_where_constant(static.std(0))),
        )

    def inputs(
        self,
        forcing: Forcing,
        dtype: torch.dtype,
        device: torch.device | str = "cpu",
        learnt_from: Iterable[str] = (),
    ) -> Inputs:
        """Return inputs: time first, auxiliaries and statics standardised, missing days masked."""
        missing = forcing.missing
        auxiliary = (forcing.auxiliary - np.asarray(self.auxiliary_mean)) / np.asarray(self.auxiliary_sd)
        static = (forcing.static - np.asarray(self.static_mean)) / np.asarray(self.static_sd)
        return Inputs(
            mass=torch.as_tensor(np.where(missing, 0, forcing.mass).T[..., None], dtype=dtype, device=device),
            auxiliary=torch.as_tensor(
                np.where(missing[..., None], 0, auxiliary).swapaxes(0, 1), dtype=dtype, device=device
            ),
            static=torch.as_tensor(static, dtype=dtype, device=device),
            basin=torch.as_tensor(places(forcing.ids, learnt_from), device=device),
            mask=torch.as_tensor(~missing.T, device=device) if missing.any() else None,
        )

    def as_json(self) -> dict[str, list[float]]:
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_json(cls, fields: dict[str, list[float]]) -> Self:
        return cls(**{name: tuple(values) for name, values in fields.items()})


def _one_where_constant(sd: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where(sd > 0, sd, 1.0)


def _row(values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
