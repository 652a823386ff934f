"""Estimates attributes of the land at a place where nothing else is known of it, from basins around.

`land.safetensors` is a grid over the conterminous USA that `python -m benchmarks.regional land` interpolates between
the 447 basins of the shipped versions, by kriging.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hydrology.base.arrays import Array
from models import checkpoint
from models.pretrained import SHELF, form

LAND_FILE = SHELF / "land.safetensors"
LATITUDES, LONGITUDES, VALUES = "latitudes", "longitudes", "values"


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """Attributes of the land on a grid, (latitudes, longitudes, names), NaN far from any basin that is known."""

    names: tuple[str, ...]
    latitudes: Array
    longitudes: Array
    values: Array

    def at(self, latitude: float, longitude: float) -> dict[str, float]:
        """Return the attributes at a place in degrees, by name; none beyond the grid or far from any known basin."""
        from scipy.interpolate import RegularGridInterpolator  # here, for it is loaded slowly and used rarely

        grid = RegularGridInterpolator((self.latitudes, self.longitudes), self.values, bounds_error=False)
        (values,) = grid([[latitude, longitude]])
        return dict(zip(self.names, values.tolist(), strict=True)) if np.isfinite(values).all() else {}


@lru_cache(maxsize=1)
def shipped_land() -> Land:
    """Return the shipped grid."""
    tensors, header = checkpoint.parse(form.read_file(LAND_FILE))
    parts = (tensors[part].double().numpy() for part in (LATITUDES, LONGITUDES, VALUES))
    return Land(tuple(header["names"]), *parts)
