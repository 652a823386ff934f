"""The coverage of an outline, its area on the WGS 84 ellipsoid, and the points over which its weather is averaged.

Sides are straight in longitude and latitude (RFC 7946, 3.1.1). Area covered more than once counts once; a hole is open
where no other polygon covers it.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.outline import BadOutline, Polygon, normalised

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


MAX_POINTS = 4
AREA_OF_POINT_KM2 = 300.0
"""Larger parts of a basin are halved, up to MAX_POINTS parts: cells of weather models have some 100 to 600 km2."""

_CELLS = 64  # of the grid that an outline is laid on, along its longer side
_KM_PER_DEGREE = 111.2


def weather_points(polygons: Sequence[Polygon]) -> list[list[float]]:
    """Return the points [latitude, longitude] to average a basin's weather over, for equal parts of it.

    The basin is halved across its longer side, and its halves again, until a part is small enough; the point of a part
    is the place in it that is nearest to its middle.
    """
    cells, cell_km2 = _cells(polygons)
    return [_middle(part) for part in _halved(cells, cell_km2, MAX_POINTS)]


def _cells(polygons: Sequence[Polygon]) -> tuple[Array, float]:
    """Return the grid cells within the outline, (cells, 2) in longitude and latitude, and a cell's size in km2."""
    vertices = np.concatenate([ring for polygon in polygons for ring in polygon])
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    per_degree = _KM_PER_DEGREE * np.array([math.cos(math.radians(float(low[1] + high[1]) / 2)), 1.0])
    size = float(((high - low) * per_degree).max()) / _CELLS
    if size <= 0:
        raise BadOutline("The outline has no area.")
    step = size / per_degree
    columns, rows = (np.arange(low[axis] + step[axis] / 2, high[axis], step[axis]) for axis in (0, 1))
    inside = covered(polygons, columns, rows)
    if not inside.any():
        raise BadOutline("The outline has no area to speak of: give the outline of the whole basin.")
    row, column = np.nonzero(inside)
    return np.column_stack([columns[column], rows[row]]), size**2


def _halved(cells: Array, cell_km2: float, maximum: int) -> Iterator[Array]:
    """Yield the cells in parts of equal size, at most `maximum`."""
    if maximum == 1 or len(cells) == 1 or len(cells) * cell_km2 <= AREA_OF_POINT_KM2:
        yield cells
        return
    sides = np.ptp(cells, axis=0) * (math.cos(math.radians(float(cells[:, 1].mean()))), 1.0)
    order = np.argsort(cells[:, int(sides.argmax())], kind="stable")
    middle = len(cells) // 2
    for half in (order[:middle], order[middle:]):
        yield from _halved(cells[half], cell_km2, maximum // 2)


def _middle(cells: Array) -> list[float]:
    apart = np.square(cells - cells.mean(axis=0)).sum(axis=1)
    longitude, latitude = cells[int(apart.argmin())]
    return [round(float(latitude), 4), round(normalised(float(longitude)), 4)]
