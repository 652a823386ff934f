"""Simplifies the outline of a basin to polygons that alerting systems take."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import shapely

from hydrology.base.outline import Polygon

if TYPE_CHECKING:
    from shapely import Geometry

MAX_VERTICES = 100
"""Largest number of vertices of a ring: what alerting systems take as a polygon."""
GRID = 1e-4
"""Degrees. Every vertex is a multiple of it: messages write four digits, and rounding may make a ring cross itself."""
_GROWTH = 1.5  # of the tolerance, from one try to the next
_LARGEST_TOLERANCE = 20.0  # degrees, longer than any outline
_TURN = 360.0


def simplified(polygons: Sequence[Polygon]) -> list[list[list[float]]]:
    """Return the rings around an outline as closed lists of [latitude, longitude].

    No ring crosses itself or the 180th meridian; holes are filled, and what is narrower than `GRID` is left out.
    """
    filled = (_without_holes(shapely.make_valid(shapely.Polygon(outer), method="structure")) for outer, *_ in polygons)
    whole = shapely.set_precision(shapely.union_all(list(filled)), GRID)
    rings = [_simplified_ring(ring) for side in _split_at_180(whole) for ring in _rings(side)]
    return [[[round(latitude, 4), round(longitude, 4)] for longitude, latitude in ring.coords] for ring in rings]


def _simplified_ring(ring: shapely.LinearRing) -> shapely.LinearRing:
    """Return a ring of at most `MAX_VERTICES` vertices, or the hull of one whose bends leave no room for a shortcut."""
    area, simple, tolerance = shapely.Polygon(ring), shapely.Polygon(ring), GRID
    while len(simple.exterior.coords) > MAX_VERTICES or not simple.is_valid:
        if tolerance > _LARGEST_TOLERANCE:
            area, tolerance = area.convex_hull, GRID
        simple = area.simplify(tolerance, preserve_topology=True)
        tolerance *= _GROWTH
    return simple.exterior


def _split_at_180(whole: "Geometry") -> Iterator["Geometry"]:
    """Yield the parts within -180 to 180 degrees of longitude, and those beyond, moved there."""
    for turn in (-_TURN, 0.0, _TURN):
        moved = shapely.transform(whole, lambda places, east=np.array([turn, 0.0]): places + east)
        yield shapely.intersection(moved, shapely.box(-_TURN / 2, -90, _TURN / 2, 90), grid_size=GRID)


def _without_holes(geometry: "Geometry") -> "Geometry":
    return shapely.union_all([shapely.Polygon(ring) for ring in _rings(geometry)])


def _rings(geometry: "Geometry") -> list[shapely.LinearRing]:
    """Return the outer rings of the polygons of a geometry."""
    return [part.exterior for part in shapely.get_parts(geometry) if part.geom_type == "Polygon" and not part.is_empty]
