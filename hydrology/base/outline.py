"""Longitudes modulo 360, and a basin's outline from unchecked GeoJSON (RFC 7946)."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.errors import InvalidInput, excerpt

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
    given = np.array([*longitudes], dtype=np.float64)
    ascending = np.unique(np.where(np.abs(given) <= 180, given, (given + 180) % 360 - 180))
    west, east, gaps = ascending[0], ascending[-1], np.diff(ascending)
    if gaps.size and gaps.max() > 360 - (east - west):
        widest = int(gaps.argmax())
        west, east = ascending[widest + 1], ascending[widest] + 360
    return float(west), float(east)


MAX_VERTICES = 5_000
MAX_RINGS = 100

Polygon = list[Array]
"""Its rings, the outer one first and then its holes, each (vertices, 2) in degrees of longitude and latitude; the last
vertex equals the first."""

_LARGEST_NUMBER = 1e9  # a height may follow the degrees; NaN is never below it
_LARGEST = (360.0, 90.0)  # degrees: longitudes may go on beyond 180, or from 0 to 360
_NEAR = 0.2  # degrees that a gauge may lie outside the box of its outline
_FARTHEST = 20.0  # degrees from end to end: no basin with a gauge is larger
_POLYGONS = ("Polygon", "MultiPolygon")
_WGS84 = re.compile(r"(?i)(.*[:/])?(CRS84h?|EPSG[:/](.*[:/])?(4326|4979|4269|4258))")
"""Names of reference systems equivalent to RFC 7946's: WGS 84, and those within metres of it."""
_MAX_NAME = 100
_TRANSFORM = "transform it to WGS 84, longitude first (ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES)"


class BadOutline(InvalidInput):
    """An outline that cannot be used; its text gives the reason."""


def outline_of(geojson: object, latitude: float, longitude: float) -> list[Polygon]:
    """Return a gauge's outline, with longitudes within 180 degrees of the gauge's; BadOutline where it is unusable."""
    polygons = [
        [np.column_stack([unwrapped(ring[:, 0], longitude), ring[:, 1]]) for ring in polygon]
        for polygon in polygons_of(geojson)
    ]
    _check_place(polygons, latitude, longitude)
    for polygon in polygons:
        for ring in polygon:
            _check_simple(ring)
    return polygons


def polygons_of(geojson: object) -> list[Polygon]:
    """Return an outline's polygons; refuse one without any, too large, not closed or not on the Earth."""
    polygons = _parts(geometry_of(geojson))
    rings = [ring for polygon in polygons for ring in polygon]
    if not 0 < len(rings) <= MAX_RINGS:
        raise BadOutline(f"The outline has {len(rings)} rings: give 1 to {MAX_RINGS}.")
    if not all(isinstance(ring, list) for ring in rings):
        raise BadOutline("A ring of the outline is not a list of positions: write it according to RFC 7946.")
    vertices = sum(len(ring) for ring in rings)
    if vertices > MAX_VERTICES:
        raise BadOutline(f"The outline has {vertices} vertices, and at most {MAX_VERTICES} are taken: simplify it.")
    return [[_ring(ring) for ring in polygon] for polygon in polygons]


def geometry_of(geojson: object) -> dict[str, Any]:
    """Return an outline as one Polygon or MultiPolygon, without the rest of the GeoJSON.

    Refused are several features with a polygon, and another reference system. The polygons of a GeometryCollection
    belong together; points and lines are ignored.
    """
    inner = geojson
    _check_reference(inner)
    if isinstance(inner, dict) and inner.get("type") == "FeatureCollection":
        features = inner.get("features")
        features = [one for one in features if isinstance(one, dict)] if isinstance(features, list) else []
        areal = [feature for feature in features if _areal_within(feature.get("geometry"))]
        if len(areal) != 1:
            raise BadOutline(
                f"The outline has {len(areal)} features with a polygon instead of one: give the basin's alone."
            )
        (inner,) = areal
    if isinstance(inner, dict) and inner.get("type") == "Feature":
        _check_reference(inner)
        inner = inner.get("geometry")
    found = _areal_within(inner)
    if not found:
        raise BadOutline(
            "The outline is not a GeoJSON Polygon or MultiPolygon, nor does it hold one: give the area that drains to "
            "the gauge."
        )
    if len(found) > 1:
        return {"type": "MultiPolygon", "coordinates": [part for one in found for part in _parts(one)]}
    return {name: found[0].get(name) for name in ("type", "coordinates")}


def _areal_within(geometry: object) -> list[dict[str, Any]]:
    if not isinstance(geometry, dict):
        return []
    within = geometry.get("geometries") if geometry.get("type") == "GeometryCollection" else [geometry]
    parts = within if isinstance(within, list) else []
    found = [part for part in parts if isinstance(part, dict) and part.get("type") in _POLYGONS]
    for one in (geometry, *found):
        _check_reference(one)
    return found


def _parts(geometry: dict[str, Any]) -> list[list[Any]]:
    """Return the polygons of a Polygon or MultiPolygon, each a list of rings."""
    given = geometry.get("coordinates")
    polygons = [given] if geometry["type"] == "Polygon" else given
    if not isinstance(polygons, list) or not all(isinstance(polygon, list) and polygon for polygon in polygons):
        raise BadOutline("The outline's coordinates are not lists of rings: write it according to RFC 7946.")
    return polygons


def _check_reference(holder: object) -> None:
    """Raise where a `crs` (from before RFC 7946) names another reference system than WGS 84."""
    crs = holder.get("crs") if isinstance(holder, dict) else None
    if crs is None:
        return
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if not isinstance(name, str) or len(name) > _MAX_NAME or not _WGS84.fullmatch(name):
        shown = (
            f"is in {excerpt(name)[:_MAX_NAME]}" if isinstance(name, str) else "is in a reference system without a name"
        )
        raise BadOutline(f"The outline {shown}, not in degrees of WGS 84: {_TRANSFORM}.")


def _ring(ring: list[Any]) -> Array:
    if not all(isinstance(place, list) and len(place) in (2, 3) and all(map(_is_number, place)) for place in ring):
        raise BadOutline("A place of the outline is not [longitude, latitude] in finite numbers.")
    vertices = np.array([place[:2] for place in ring], dtype=np.float64).reshape(-1, 2)
    if len(vertices) < 4 or (vertices[0] != vertices[-1]).any():
        raise BadOutline("A ring of the outline is not closed: give 4 places or more, the last the same as the first.")
    outside = (np.abs(vertices) > _LARGEST).any(axis=1)
    if outside.any():
        longitude, latitude = vertices[int(outside.argmax())]
        are_degrees = abs(longitude) <= _LARGEST[0] and abs(latitude) <= _LARGEST[0]
        remedy = "longitude comes first, in degrees of WGS 84" if are_degrees else _TRANSFORM
        raise BadOutline(
            f"The outline has a vertex at longitude {longitude:g} and latitude {latitude:g}, which is not on the "
            f"Earth: {remedy}."
        )
    return vertices


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER


def _check_place(polygons: list[Polygon], latitude: float, longitude: float) -> None:
    vertices = np.concatenate([ring for polygon in polygons for ring in polygon])
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    if (high - low).max() > _FARTHEST:
        raise BadOutline(f"The outline is more than {_FARTHEST:g} degrees from end to end: no such basin is taken.")
    gauge = np.array([longitude, latitude])
    if not _is_near(gauge, low, high):
        swapped = _is_near(gauge[::-1], low, high)
        remedy = "latitude comes first in it: swap them" if swapped else "give the outline of this basin"
        raise BadOutline(
            f"The outline lies between longitudes {low[0]:g} and {high[0]:g} and latitudes {low[1]:g} and {high[1]:g}, "
            f"and its gauge at longitude {longitude:g} and latitude {latitude:g}: {remedy}, longitude first."
        )


def _is_near(gauge: Array, low: Array, high: Array) -> bool:
    return bool((gauge >= low - _NEAR).all() and (gauge <= high + _NEAR).all())


def _check_simple(ring: Array) -> None:
    starts, ends = ring[:-1], ring[1:]
    for at in range(len(starts) - 1):
        start, end, others, other_ends = starts[at], ends[at], starts[at + 1 :], ends[at + 1 :]
        crosses = (_side(start, end, others) * _side(start, end, other_ends) < 0) & (
            _side(others, other_ends, start) * _side(others, other_ends, end) < 0
        )
        if crosses.any():
            raise BadOutline(
                f"The outline crosses itself near longitude {start[0]:g} and latitude {start[1]:g}: correct it."
            )


def _side(start: Array, end: Array, place: Array) -> Array:
    """Return the side of the line from start to end, above 0 to its left; shapes broadcast."""
    along, across = end - start, place - start
    return np.asarray(np.sign(along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]))
