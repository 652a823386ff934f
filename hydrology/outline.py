"""A basin's outline, read from GeoJSON that nobody has checked.

Source of the shapes: RFC 7946.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.errors import InvalidInput

Array = npt.NDArray[np.float64]

MOST_VERTICES = 5_000
MOST_RINGS = 100

_LARGEST_NUMBER = 1e9  # a height may stand beside the degrees; no NaN is below
_NEAR = 0.2  # degrees that a gauge may lie outside the box of its outline
_FARTHEST = 20.0  # degrees from end to end: no basin with a gauge is larger
_POLYGONS = ("Polygon", "MultiPolygon")


class BadOutline(InvalidInput):
    """An outline that cannot be used; the text says why."""

    kind = "bad-outline"


def outline_of(geojson: object, latitude: float, longitude: float) -> list[Array]:
    """Return the rings of a gauge's outline, as `rings_of` does.

    Args:
        latitude, longitude: of the gauge, degrees.

    Raises:
        BadOutline: also where a ring crosses itself, or the outline is too large or not where the gauge is.
    """
    rings = rings_of(geojson)
    _check_place(rings, latitude, longitude)
    for ring in rings:
        _check_simple(ring)
    return rings


def rings_of(geojson: object) -> list[Array]:
    """Return the rings of an outline, each (vertices, 2) in degrees of longitude and latitude, the last the first.

    Raises:
        BadOutline: it is no polygon, too large, not closed, or not on the Earth.
    """
    geometry = geometry_of(geojson)
    polygons = geometry["coordinates"]
    if geometry["type"] == "Polygon":
        polygons = [polygons]
    if not isinstance(polygons, list) or not all(isinstance(polygon, list) and polygon for polygon in polygons):
        raise BadOutline("The outline's coordinates are not lists of rings: write it as RFC 7946 says.")
    rings = [ring for polygon in polygons for ring in polygon]
    if not 0 < len(rings) <= MOST_RINGS:
        raise BadOutline(f"The outline has {len(rings)} rings: give 1 to {MOST_RINGS}.")
    if not all(isinstance(ring, list) for ring in rings):
        raise BadOutline("A ring of the outline is not a list of places: write it as RFC 7946 says.")
    vertices = sum(len(ring) for ring in rings)
    if vertices > MOST_VERTICES:
        raise BadOutline(f"The outline has {vertices} vertices, and at most {MOST_VERTICES} are taken: simplify it.")
    return [_ring(ring) for ring in rings]


def geometry_of(geojson: object) -> dict[str, Any]:
    """Return the type and the coordinates of an outline's polygon, without whatever else is said of it.

    Raises:
        BadOutline: there is none within at most two wrappings.
    """
    inner = geojson
    if isinstance(inner, dict) and inner.get("type") == "FeatureCollection":
        features = inner.get("features")
        if not isinstance(features, list) or len(features) != 1:
            raise BadOutline("The outline is not one feature: give that of the basin alone.")
        (inner,) = features
    if isinstance(inner, dict) and inner.get("type") == "Feature":
        inner = inner.get("geometry")
    if not isinstance(inner, dict) or inner.get("type") not in _POLYGONS or "coordinates" not in inner:
        raise BadOutline("The outline is no GeoJSON Polygon or MultiPolygon, nor a Feature that has one.")
    return {name: inner[name] for name in ("type", "coordinates")}


def _ring(ring: list[Any]) -> Array:
    if not all(isinstance(place, list) and len(place) in (2, 3) and all(map(_is_number, place)) for place in ring):
        raise BadOutline("A place of the outline is not [longitude, latitude] in finite numbers.")
    vertices = np.array([place[:2] for place in ring], dtype=np.float64).reshape(-1, 2)
    if len(vertices) < 4 or (vertices[0] != vertices[-1]).any():
        raise BadOutline("A ring of the outline is not closed: give 4 places or more, the last the same as the first.")
    outside = (np.abs(vertices) > (180.0, 90.0)).any(axis=1)
    if outside.any():
        longitude, latitude = vertices[int(outside.argmax())]
        raise BadOutline(
            f"The outline has a vertex at longitude {longitude:g} and latitude {latitude:g}, which is not on the "
            "Earth: longitude comes first, in degrees (WGS 84)."
        )
    return vertices


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER


def _check_place(rings: list[Array], latitude: float, longitude: float) -> None:
    """Raise where the outline is not a basin of that gauge."""
    vertices = np.concatenate(rings)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    if (high - low).max() > _FARTHEST:
        raise BadOutline(f"The outline is more than {_FARTHEST:g} degrees from end to end: no such basin is taken.")
    gauge = np.array([longitude, latitude])
    if (gauge < low - _NEAR).any() or (gauge > high + _NEAR).any():
        raise BadOutline(
            f"The outline lies between longitudes {low[0]:g} and {high[0]:g} and latitudes {low[1]:g} and {high[1]:g}, "
            f"and its gauge at longitude {longitude:g} and latitude {latitude:g}: give the outline of this basin, "
            "longitude first."
        )


def _check_simple(ring: Array) -> None:
    """Raise where a ring crosses itself."""
    starts, ends = ring[:-1], ring[1:]
    for at in range(len(starts) - 1):
        start, end, others, other_ends = starts[at], ends[at], starts[at + 1 :], ends[at + 1 :]
        crosses = (_side(start, end, others) * _side(start, end, other_ends) < 0) & (
            _side(others, other_ends, start) * _side(others, other_ends, end) < 0
        )
        if crosses.any():
            raise BadOutline(
                f"The outline crosses itself near longitude {start[0]:g} and latitude {start[1]:g}: mend it."
            )


def _side(start: Array, end: Array, place: Array) -> Array:
    """Return on which side of the line from start to end a place lies: above 0 to its left; shapes broadcast."""
    along, across = end - start, place - start
    side: Array = np.sign(along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0])
    return side
