"""Simulates all past days of basins with observed weather.

Flow, loss and stored water."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.uncertainty.weighted import mean_by_shares
from hydrology.water.spin_up import SPIN_UP_DAYS
from models.arrays import Forcing, days_of
from operations.versions.load_networks import LoadedVersion
from records.simulations.snow_cells import SnowMapping

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Past:
    """The mean of the members in one basin, (days,).

    Attributes:
        flow: mm/day.
        snow: the part of it in snow cells; None where there are none.
        loss: of each member, the mean after the days on which the store fills (`SPIN_UP_DAYS`), mm/day; None where the
            network does not conserve mass.
    """

    flow: Array
    storage: Array | None
    snow: Array | None
    loss: Mapping[str, float] | None


def simulate_past(loaded: LoadedVersion, forcing: Forcing, snow: Sequence[SnowMapping | None]) -> list[Past]:
    """Simulate basins from an empty store, one member after the other.

    Only sums over cells are held.

    Args:
        snow: the cells that read as snow in each basin, None where none do.
    """
    ensemble, members = loaded.ensemble, len(loaded.labels)
    flow, storage, as_snow = (np.zeros(forcing.mass.shape) for _ in range(3))
    wanted = ("discharge", "loss", "storage") if ensemble.conserving else ("discharge",)
    losses: list[dict[str, float]] = [{} for _ in snow]
    for label, (outputs, _) in zip(loaded.labels, ensemble.each(forcing, None, wanted), strict=True):
        flow += outputs["discharge"]
        if not ensemble.conserving:
            continue
        storage += outputs["storage"].sum(axis=-1)
        for of_basin, lost in zip(losses, outputs["loss"][:, SPIN_UP_DAYS:], strict=True):
            of_basin[label] = float(lost.mean(dtype=np.float64)) if len(lost) else 0.0
        for chosen, of_cells, sums in zip(snow, outputs["storage"], as_snow, strict=True):
            if chosen is not None:
                sums += of_cells[:, chosen.cells[label]].sum(axis=-1)
    return [
        Past(
            flow[at] / members,
            storage[at] / members if ensemble.conserving else None,
            as_snow[at] / members if ensemble.conserving and of_basin is not None else None,
            losses[at] if ensemble.conserving else None,
        )
        for at, of_basin in enumerate(snow)
    ]


def mean_past(parts: Sequence[tuple[float, Period, Past]], days: Period) -> Past:
    """Return the weighted mean of the simulations of a combined version's parts; snow and loss are the parts' own.

    Args:
        parts: of each, its weight, the days of its simulation, and the simulation.
        days: within those of every part.
    """
    shares = [weight for weight, _, _ in parts]

    def mean(arrays: Sequence[Array | None]) -> Array | None:
        there = [of[days_of(own, days)] for of, (_, own, _) in zip(arrays, parts, strict=True) if of is not None]
        return mean_by_shares(there, shares) if len(there) == len(parts) else None

    flow = mean([past.flow for _, _, past in parts])
    assert flow is not None
    return Past(flow, mean([past.storage for _, _, past in parts]), None, None)
