"""Adds water to some cells of a store, or takes it from them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import InvalidInput

Array = npt.NDArray[np.float32]


def incremented(cells: Array, chosen: Sequence[int], amount: float) -> Array:
    """Add an amount of water to some cells, in proportion to their content.

    Args:
        cells: mm, shape (K,).
        chosen: the indices of these cells; the others are unchanged.
        amount: mm; negative to take water away.

    Raises:
        InvalidInput: the chosen cells are empty, so that their proportions are undefined, or hold less than is taken.
    """
    held = float(cells[list(chosen)].sum(dtype=np.float64))
    if held <= 0:
        raise InvalidInput("hold no water, so the amount cannot be divided among them")
    if held + amount < 0:
        raise InvalidInput(f"hold {held:.4g} mm, less than the {-amount:.4g} mm that are to be taken away")
    changed = cells.copy()
    changed[list(chosen)] = cells[list(chosen)] * np.float64(1 + amount / held)
    return changed
