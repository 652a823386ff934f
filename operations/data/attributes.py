"""Completes a basin's attributes.

Missing ones are assumed at the training mean, if an operator allows it.

Climate and area are never assumed: the climate is computed from the basin's weather archive, and discharge is converted
with the area.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.weather.climate_indices import CLIMATE

AREA_ATTRIBUTES = ("area_gages2", "area_km2")
"""A basin's drainage area in km2, by the names that versions use."""

_NEVER_ASSUMED = frozenset((*CLIMATE, *AREA_ATTRIBUTES))


@dataclass(frozen=True, slots=True)
class Attributes:
    """A basin's attributes as network input.

    Attributes:
        values: (attributes,), all known.
        assumed: the names of the assumed ones.
    """

    values: npt.NDArray[np.float64]
    assumed: tuple[str, ...] = ()


def completed(
    basin: str,
    names: Sequence[str],
    values: npt.NDArray[np.float64],
    means: Mapping[str, float] | None,
    allowed: bool,
) -> Attributes | str:
    """Return a basin's attributes with none missing, or why they cannot be completed.

    Args:
        values: (attributes,) in the order of the names, NaN where one is not known.
        means: over the basins that the version learnt from; None where there is no version yet: nothing is assumed.
        allowed: whether an operator allows attributes of the basin to be assumed.
    """
    unknown = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
    if not unknown:
        return Attributes(values)
    needed = [name for name in unknown if means is None or not allowed or name in _NEVER_ASSUMED]
    if needed:
        return _reason(basin, needed, may_assume=means is not None)
    assert means is not None
    mean_values = np.array([means[name] for name in names])
    return Attributes(np.where(np.isnan(values), mean_values, values), tuple(unknown))


def _reason(basin: str, needed: Sequence[str], may_assume: bool) -> str:
    """Describe which attributes are missing, and how to supply each."""
    climate = [name for name in needed if name in CLIMATE]
    area = [name for name in needed if name in AREA_ATTRIBUTES]
    land = [name for name in needed if name not in _NEVER_ASSUMED]
    mends = []
    if climate:
        mends.append(f"compute {', '.join(climate)} from its weather (freshet basins climate {basin})")
    if area:
        mends.append(f"give its area (freshet basins add {basin} --area KM2)")
    if land:
        assuming = ", or allow the means of the version's basins with --assume-attributes" if may_assume else ""
        mends.append(f"ingest or give {', '.join(land)} (freshet basins add {basin} --attributes FILE{assuming})")
    return f"{basin} has no attribute {', '.join(needed)}: {'; '.join(mends)}."
