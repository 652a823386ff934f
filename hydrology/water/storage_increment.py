"""Water added to some cells of a store, or taken from them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import InvalidInput

Array = npt.NDArray[np.float32]


def incremented(cells: Array, chosen: Sequence[int], amount: float) -> Array:
    """Return the water of cells after some of them have got an amount, divided in proportion to what they hold.

    Args:
        cells: mm, shape (K,).
        chosen: which of them share it; the others stay as they are.
        amount: mm; a negative one is taken away.

    Raises:
        InvalidInput: the chosen cells hold nothing, so that no share of them is known, or less than is to be taken.
    """
    held = float(cells[list(chosen)].sum(dtype=np.float64))
    if held <= 0:
        raise InvalidInput("hold no water, so that nothing says how to divide it among them")
    if held + amount < 0:
        raise InvalidInput(f"hold {held:.4g} mm, less than the {-amount:.4g} mm that are to be taken away")
    changed = cells.copy()
    changed[list(chosen)] = cells[list(chosen)] * np.float64(1 + amount / held)
    return changed
