"""Outlines: what is taken, what is refused by name."""

import math
from typing import Any

import numpy as np
import pytest

from hydrology.base.outline import MAX_VERTICES, BadOutline, outline_of
from hydrology.base.outline_area import area_m2

WEST, SOUTH, EAST, NORTH = -69.8, 45.0, -68.8, 45.4
SQUARE = [[WEST, SOUTH], [EAST, SOUTH], [EAST, NORTH], [WEST, NORTH], [WEST, SOUTH]]
GAUGE = (45.05, -69.3)


def polygon(*rings: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def feature(geometry: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": {}, "geometry": geometry}


def crs(name: object) -> dict[str, Any]:
    return {"type": "name", "properties": {"name": name}}


@pytest.mark.parametrize(
    "wrapped",
    [
        {"type": "Feature", "properties": {"a": 1}, "geometry": polygon(SQUARE)},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": polygon(SQUARE)}]},
        {"type": "MultiPolygon", "coordinates": [[SQUARE]]},
        polygon([[*place, 120.5] for place in SQUARE]),
        {"type": "GeometryCollection", "geometries": [polygon(SQUARE), {"type": "Point", "coordinates": [0, 0]}]},
        {"type": "FeatureCollection", "features": [feature({"type": "Point"}), feature(polygon(SQUARE))]},
        {"crs": crs("urn:ogc:def:crs:OGC:1.3:CRS84")} | polygon(SQUARE),
        {"crs": crs("urn:ogc:def:crs:EPSG::4269")} | polygon(SQUARE),
        polygon([[lon + 360, lat] for lon, lat in SQUARE]),
    ],
)
def test_wrappings_and_heights_change_nothing(wrapped: dict[str, Any]) -> None:
    ((ring,),) = outline_of(wrapped, *GAUGE)
    assert ring.tolist() == SQUARE


def circle(vertices: int) -> list[list[float]]:
    angles = np.linspace(0, 2 * np.pi, vertices - 1)
    ring = [[-69.3 + 0.1 * math.cos(a), 45.1 + 0.1 * math.sin(a)] for a in angles]
    return [*ring, ring[0]]


@pytest.mark.parametrize(
    ("outline", "sentence"),
    [
        ("a river", "not a GeoJSON Polygon"),
        ({"type": "Point", "coordinates": [0, 0]}, "not a GeoJSON Polygon"),
        ({"type": "FeatureCollection", "features": []}, "has 0 features with a polygon"),
        ({"type": "FeatureCollection", "features": [feature(polygon(SQUARE))] * 2}, "has 2 features with a polygon"),
        ({"type": "GeometryCollection", "geometries": []}, "not a GeoJSON Polygon"),
        ({"crs": crs("urn:ogc:def:crs:EPSG::27700")} | polygon(SQUARE), "is in urn.*27700, not in degrees .*ogr2ogr"),
        ({"crs": crs("EPSG:14326")} | polygon(SQUARE), "is in EPSG:14326"),
        ({"crs": crs(None)} | polygon(SQUARE), "without a name"),
        (feature({"crs": crs("EPSG:3857")} | polygon(SQUARE)), "is in EPSG:3857"),
        ({"type": "Feature", "geometry": None}, "not a GeoJSON Polygon"),
        ({"type": "Polygon", "coordinates": 5}, "not lists of rings"),
        (polygon(), "not lists of rings"),
        (polygon("ring"), "not a list of positions"),  # type: ignore[arg-type]
        (polygon(SQUARE[:-1]), "not closed"),
        (polygon([SQUARE[0], SQUARE[1], SQUARE[0]]), "not closed"),
        (polygon([[WEST, "45"], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, math.nan], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, 10**400], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, True], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[lat, lon] for lon, lat in SQUARE]), "latitude comes first in it: swap them"),
        (polygon([[lon * 1000, lat * 10_000] for lon, lat in SQUARE]), "not on the Earth: transform it"),
        (polygon([[lon, lat + 90] for lon, lat in SQUARE]), "not on the Earth"),
        (polygon([[lon, lat + 1] for lon, lat in SQUARE]), "and its gauge at"),
        (polygon([[-80, 45], [-50, 45], [-50, 46], [-80, 46], [-80, 45]]), "degrees from end to end"),
        (polygon([SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3], SQUARE[0]]), "crosses itself near"),
        (polygon(circle(MAX_VERTICES + 1)), "simplify it"),
        (polygon(*[SQUARE] * 101), "101 rings"),
    ],
)
def test_an_outline_that_cannot_be_is_refused_by_name(outline: object, sentence: str) -> None:
    with pytest.raises(BadOutline, match=sentence):
        outline_of(outline, *GAUGE)


@pytest.mark.parametrize("longitude", [179.95, -179.95, 180.0, -180.0])
@pytest.mark.parametrize(
    "written", [[(179.8, 180.1)], [(179.8, 180), (-180, -179.9)], [(-180.2, -179.9)], [(179.8, -179.9)]]
)
def test_an_outline_across_the_180th_meridian_is_one_whoever_wrote_it(
    longitude: float, written: list[tuple[float, float]]
) -> None:
    boxes = [[[[w, -17], [e, -17], [e, -16.6], [w, -16.6], [w, -17]]] for w, e in written]
    polygons = outline_of({"type": "MultiPolygon", "coordinates": boxes}, -16.8, longitude)
    longitudes = np.concatenate([ring[:, 0] for polygon in polygons for ring in polygon])
    assert np.ptp(longitudes) == pytest.approx(0.3)
    assert np.abs(longitudes - longitude).max() < 1
    assert area_m2(polygons) == pytest.approx(1415.63e6, rel=1e-5)
