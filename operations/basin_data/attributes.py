"""Completes a basin's attributes.

Missing ones are assumed at the training mean, if an operator allows it.

Climate and area are never assumed: the climate is computed from the basin's weather archive, and discharge is converted
with the area.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.base.units import AREA_ATTRIBUTES
from hydrology.weather.climate_indices import CLIMATE

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
) -> Attributes | Absent:
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


def _reason(basin: str, needed: Sequence[str], may_assume: bool) -> Absent:
    """Describe which attributes are missing, and how to supply each."""
    climate = ", ".join(name for name in needed if name in CLIMATE)
    land = ", ".join(name for name in needed if name not in _NEVER_ASSUMED)
    remedies = []
    if climate:
        remedies.append(absent(Reason.COMPUTE_CLIMATE, attributes=climate, basin=basin))
    if any(name in AREA_ATTRIBUTES for name in needed):
        remedies.append(absent(Reason.GIVE_AREA, basin=basin))
    if land:
        give = Reason.GIVE_OR_ASSUME_ATTRIBUTES if may_assume else Reason.GIVE_ATTRIBUTES
        remedies.append(absent(give, attributes=land, basin=basin))
    remedy = reduce(lambda first, second: absent(Reason.REMEDIES, first=first, second=second), remedies)
    return absent(Reason.NO_ATTRIBUTES, basin=basin, attributes=", ".join(needed), remedy=remedy)
