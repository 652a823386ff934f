"""Compares and subtracts longitudes in degrees, modulo 360."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array

Values = float | Array


def difference(longitude: Values, reference: Values) -> Array:
    """Subtract longitudes: degrees east of the reference, within -180 to 180; shapes broadcast."""
    apart = np.subtract(longitude, reference, dtype=np.float64)
    near = np.abs(apart) < 180  # the plain difference, to the last bit
    return np.asarray(np.where(near, apart, (apart + 180) % 360 - 180))


def unwrapped(longitude: Values, reference: Values) -> Array:
    """Return longitudes within 180 degrees of a reference, above 180 where needed."""
    near = np.abs(np.subtract(longitude, reference)) < 180
    return np.asarray(np.where(near, longitude, reference + difference(longitude, reference)))


def normalised(longitude: float) -> float:
    """Return a longitude within -180 to 180."""
    return longitude if -180 <= longitude <= 180 else (longitude + 180) % 360 - 180


def extent(longitudes: Iterable[float]) -> tuple[float, float]:
    """Return west (-180 to 180) and east (not below west) of the shortest arc that contains all longitudes."""
    ascending = sorted({normalised(longitude) for longitude in longitudes})
    west, east = ascending[0], ascending[-1]
    gaps = [after - before for before, after in pairwise(ascending)]
    if gaps and max(gaps) > 360 - (east - west):
        widest = gaps.index(max(gaps))
        west, east = ascending[widest + 1], ascending[widest] + 360
    return west, east
