"""A store that is filling: days of spin-up, and water added to some of its cells."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import InvalidInput, counted

SPIN_UP_DAYS = 365
"""A state up to this many days after the empty store is still spinning up."""

_SHARES = ((61, 0.25), (122, 0.57), (183, 0.78), (244, 0.94))
"""Flow during spin-up as a share of that of a full store, until a day: measured on 447 basins."""


def is_spinning_up(days: int) -> bool:
    """Return whether a state this many days after the empty store is too young for the latest forecast."""
    return days <= SPIN_UP_DAYS


def spin_up_note(days: int) -> str | None:
    """Return a caution for forecasts from a state this many days after the empty store, or None."""
    if not is_spinning_up(days):
        return None
    shares = ", ".join(f"{share:.2f} until day {last}" for last, share in _SHARES)
    return (
        f"The model started from an empty store {counted(days, 'day')} before the end of T0, and holds "
        "too little water: over 447 "
        f"basins, its flow was this share of that of a model with a full store: {shares}. No forecast of the first "
        f"{SPIN_UP_DAYS} days becomes the latest."
    )


Array = npt.NDArray[np.float32]


def incremented(cells: Array, chosen: Sequence[int], amount: float) -> Array:
    """Add an amount of water (mm; negative to take it away) to some cells (K,), in proportion to their content.

    Raises:
        InvalidInput: these cells are empty, or hold less than is taken.
    """
    held = float(cells[list(chosen)].sum(dtype=np.float64))
    if held <= 0:
        raise InvalidInput("hold no water, so the amount cannot be divided among them")
    if held + amount < 0:
        raise InvalidInput(f"hold {held:.4g} mm, less than the {-amount:.4g} mm that are to be taken away")
    changed = cells.copy()
    changed[list(chosen)] = cells[list(chosen)] * np.float64(1 + amount / held)
    return changed
