"""Changes the state of T0 for a what-if run. Adds water or takes it away. Never stored."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.water.storage_increment import incremented
from jobspec.changes import Increment
from operations.versions.load_networks import LoadedVersion
from records.runs.states import State
from records.simulations.snow_cells import SnowMapping

_IN_WORDS = {"snow": "cells that read as snow", "other": "cells that do not read as snow", "all": "cells"}


def with_increment(
    loaded: LoadedVersion, state: State, snow: SnowMapping | Absent, increment: Increment
) -> State | Absent:
    """Return the state with the increment in each member's cells, or why it cannot be applied.

    Args:
        snow: the cells that read as snow in the basin, or why none do.
    """
    basin = state.basin_id
    if not loaded.ensemble.conserving:
        return absent(Reason.NO_CELLS_TO_CHANGE, basin=basin)
    if increment.where != "all" and isinstance(snow, Absent):
        return absent(Reason.NO_SNOW_TO_CHANGE, basin=basin, why=snow)
    cells = np.asarray(state.arrays["c"])
    changed = np.empty_like(cells)
    for member, (label, network) in enumerate(zip(loaded.labels, loaded.ensemble.networks, strict=True)):
        holding = [cell for cell in range(cells.shape[-1]) if cell not in network.trash_cells]
        chosen = _chosen(holding, [] if isinstance(snow, Absent) else snow.cells[label], increment)
        try:
            changed[member] = incremented(cells[member], chosen, increment.mm)
        except InvalidInput as error:
            cells_concerned = _IN_WORDS[increment.where]
            return absent(Reason.CELLS_CANNOT_CHANGE, basin=basin, cells=cells_concerned, member=label, why=str(error))
    return replace(state, arrays={**state.arrays, "c": changed})


def _chosen(cells: list[int], snow: Collection[int], increment: Increment) -> list[int]:
    """Return those of the cells that share an increment."""
    match increment.where:
        case "snow":
            return [cell for cell in cells if cell in snow]
        case "other":
            return [cell for cell in cells if cell not in snow]
        case "all":
            return cells
