"""The points over which a basin's weather is averaged."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.longitudes import normalised
from hydrology.base.outline import BadOutline, Polygon
from hydrology.base.outline_area import covered

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
