"""What a version has learnt from, and whether a basin is like that: said with every forecast."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from models.arrays import Array
from records.versions import Version


def attribute_ranges(names: Sequence[str], static: npt.NDArray[np.floating]) -> dict[str, list[float]]:
    """Return the least and the greatest value of each attribute; `static` is (basins, attributes)."""
    ends = zip(names, static.min(axis=0), static.max(axis=0), strict=True)
    return {name: [float(least), float(greatest)] for name, least, greatest in ends}


def learnt(version: Version, basin: str, names: Sequence[str], static: Array) -> dict[str, Any]:
    """Say whether a version learnt from a basin, or at least from the like of it.

    Args:
        names, static: the attributes that it takes, and their values in the basin, (attributes,).

    Returns:
        `seen_in_training`; `outside_training`, the attributes that lie outside the range of the basins that it learnt
        from (None where their range is not kept); `trained_on`, the forcing product; `training_note`, a sentence.
    """
    seen, ranges = basin in version.basins, version.properties.get("attribute_ranges")
    outside = None if ranges is None else _outside(ranges, names, static)
    count = len(version.basins)
    note = [
        f"{basin} is one of the {count} basins that the version learnt from."
        if seen
        else f"{basin} is not among the {count} basins that the version learnt from: only its own observations can "
        "tell how good the version is here."
    ]
    if version.tuned_on is not None:
        note.append(f"It was fine-tuned {'here' if basin in version.tuned_on else 'on others since'}.")
    if outside:
        note.append(f"The version extrapolates: outside the range of those basins lies {'; '.join(outside.values())}.")
    if version.trained_on != version.product:
        note.append(f"It learnt from {version.trained_on} and is driven by {version.product}.")
    return {
        "seen_in_training": seen,
        "outside_training": None if outside is None else list(outside),
        "trained_on": version.trained_on,
        "training_note": " ".join(note),
    }


def _outside(ranges: dict[str, list[float]], names: Sequence[str], static: Array) -> dict[str, str]:
    """Return in words each attribute that lies outside its range."""
    found = {}
    for name, value in zip(names, static.tolist(), strict=True):
        least, greatest = ranges[name]
        if not least <= value <= greatest:
            found[name] = f"{name} ({value:g}, theirs {least:g} to {greatest:g})"
    return found
