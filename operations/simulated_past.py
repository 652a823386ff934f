"""What a version simulates of all past days of basins, with the weather that came: flow, and the water in the basin."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.arrays import Forcing
from operations.loading import LoadedVersion
from records.skill import SnowCells

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Past:
    """The mean of the members in one basin, (days,).

    Attributes:
        flow: mm/day.
        storage: all water at the end of the day, mm; None where the network does not conserve mass.
        snow: what reads as snow of it; None where no cells do.
    """

    flow: Array
    storage: Array | None
    snow: Array | None


def simulate_past(loaded: LoadedVersion, forcing: Forcing, snow: Sequence[SnowCells | None]) -> list[Past]:
    """Simulate basins from an empty store on, one member after the other: of their cells only sums are kept.

    Args:
        snow: the cells that read as snow in each basin, None where none do.
    """
    ensemble, members = loaded.ensemble, len(loaded.labels)
    flow, storage, as_snow = (np.zeros(forcing.mass.shape) for _ in range(3))
    keep = ("discharge", "storage") if ensemble.conserving else ("discharge",)
    for label, (outputs, _) in zip(loaded.labels, ensemble.each(forcing, None, keep), strict=True):
        flow += outputs["discharge"]
        if not ensemble.conserving:
            continue
        storage += outputs["storage"].sum(axis=-1)
        for of_basin, of_cells, sums in zip(snow, outputs["storage"], as_snow, strict=True):
            if of_basin is not None:
                sums += of_cells[:, of_basin.cells[label]].sum(axis=-1)
    return [
        Past(
            flow[at] / members,
            storage[at] / members if ensemble.conserving else None,
            as_snow[at] / members if ensemble.conserving and of_basin is not None else None,
        )
        for at, of_basin in enumerate(snow)
    ]
