"""The coverage of an outline, and its area on the WGS 84 ellipsoid.

Sides are straight in longitude and latitude (RFC 7946, 3.1.1). Area covered more than once counts once; a hole is open
where no other polygon covers it.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.outline import Polygon

_SEMI_MAJOR_M = 6_378_137.0
_FLATTENING = 1 / 298.257223563
_E2 = _FLATTENING * (2 - _FLATTENING)
_SEMI_MINOR_M = _SEMI_MAJOR_M * (1 - _FLATTENING)
_STRIPS = 256  # of latitude, beside those between vertices: polygons may cross within one
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)


def area_m2(polygons: Sequence[Polygon]) -> float:
    """Return the area of a union of polygons on the WGS 84 ellipsoid, m2.

    The covered width, linear between the latitudes of vertices, is integrated over the area of a zone [Snyder 1987,
    equations 3-11 and 3-12, differentiated] by Gauss-Legendre quadrature.
    """
    sides = _sides(polygons)
    latitudes = np.concatenate([ring[:, 1] for polygon in polygons for ring in polygon])
    low, high = float(latitudes.min()), float(latitudes.max())
    bounds = np.unique(np.concatenate([latitudes, np.linspace(low, high, _STRIPS + 1)]))
    area = 0.0
    for south, north in pairwise(bounds.tolist()):
        half = (north - south) / 2
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            latitude = (south + north) / 2 + half * node
            width = np.diff(_runs(sides, latitude), axis=1).sum()
            area += weight * half * float(width) * _per_square_degree(latitude)
    return area


def covered(polygons: Sequence[Polygon], longitudes: Array, latitudes: Array) -> Mask:
    """Return which cells of a grid the polygons cover, (latitudes, longitudes).

    Cells are in degrees, ascending, with longitudes in the range of the polygons'.
    """
    sides = _sides(polygons)
    inside = np.zeros((len(latitudes), len(longitudes)), dtype=bool)
    for row, latitude in zip(inside, latitudes.tolist(), strict=True):
        for west, east in _runs(sides, latitude):
            row |= (longitudes >= west) & (longitudes < east)
    return inside


def _sides(polygons: Sequence[Polygon]) -> Array:
    """Return the sides of polygons, (sides, 7): both ends, the polygon, the ring, and 1, or -1 for a hole."""
    rings = [(number, at, ring) for number, polygon in enumerate(polygons) for at, ring in enumerate(polygon)]
    return np.concatenate(
        [
            np.column_stack([ring[:-1], ring[1:], np.full((len(ring) - 1, 3), (number, count, -1 if at else 1))])
            for count, (number, at, ring) in enumerate(rings)
        ]
    )


def _runs(sides: Array, latitude: float) -> Array:
    """Return the intervals of a parallel that polygons cover, (runs, 2) in degrees of longitude, ascending."""
    x0, y0, x1, y1, polygon, ring, sign = sides[(sides[:, 1] > latitude) != (sides[:, 3] > latitude)].T
    x = x0 + (latitude - y0) * (x1 - x0) / (y1 - y0)
    in_ring = np.lexsort((x, ring))  # each ring is crossed an even number of times: in and out take turns
    steps = np.empty(len(x))
    steps[in_ring] = np.resize([1, -1], len(x)) * sign[in_ring]
    in_polygon = np.lexsort((x, polygon))  # after each polygon the steps sum to 0
    edges = _positive(x[in_polygon], steps[in_polygon])
    if polygon.size and polygon[0] != polygon[-1]:
        order = np.argsort(edges, kind="stable")
        edges = _positive(edges[order], np.resize([1, -1], len(edges))[order])
    return np.asarray(edges.reshape(-1, 2))


def _positive(edges: Array, steps: Array) -> Array:
    """Return the edges at which the cumulative sum of the steps rises above 0, or returns to it."""
    inside = np.concatenate([[False], np.cumsum(steps) > 0])
    return np.asarray(edges[inside[1:] != inside[:-1]])


def _per_square_degree(latitude: float) -> float:
    """Return the area per square degree of the ellipsoid at a latitude, m2."""
    phi = np.radians(latitude)
    per_radian = _SEMI_MINOR_M**2 * np.cos(phi) / (1 - _E2 * np.sin(phi) ** 2) ** 2
    return float(per_radian * np.radians(1) ** 2)
