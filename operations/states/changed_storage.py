"""Changes the state of T0 for a what-if run. Adds water or takes it away. Never stored."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.snow.snow import TRASH_CELL
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
    for member, label in enumerate(loaded.labels):
        chosen = _chosen(cells.shape[-1], [] if isinstance(snow, Absent) else snow.cells[label], increment)
        try:
            changed[member] = incremented(cells[member], chosen, increment.mm)
        except InvalidInput as error:
            cells_concerned = _IN_WORDS[increment.where]
            return absent(Reason.CELLS_CANNOT_CHANGE, basin=basin, cells=cells_concerned, member=label, why=str(error))
    return replace(state, arrays={**state.arrays, "c": changed})


def _chosen(count: int, snow: Sequence[int], increment: Increment) -> list[int]:
    """Return the indices of the cells that share an increment."""
    cells = [cell for cell in range(count) if cell != TRASH_CELL]
    match increment.where:
        case "snow":
            return [cell for cell in cells if cell in snow]
        case "other":
            return [cell for cell in cells if cell not in snow]
        case "all":
            return cells
