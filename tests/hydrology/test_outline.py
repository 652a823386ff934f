"""Outlines: what is taken, what is refused by name."""

import math
from typing import Any

import numpy as np
import pytest

from hydrology.outline import MOST_VERTICES, BadOutline, outline_of

WEST, SOUTH, EAST, NORTH = -69.8, 45.0, -68.8, 45.4
SQUARE = [[WEST, SOUTH], [EAST, SOUTH], [EAST, NORTH], [WEST, NORTH], [WEST, SOUTH]]
GAUGE = (45.05, -69.3)


def polygon(*rings: list[Any]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


@pytest.mark.parametrize(
    "wrapped",
    [
        {"type": "Feature", "properties": {"a": 1}, "geometry": polygon(SQUARE)},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": polygon(SQUARE)}]},
        {"type": "MultiPolygon", "coordinates": [[SQUARE]]},
        polygon([[*place, 120.5] for place in SQUARE]),
    ],
)
def test_wrappings_and_heights_change_nothing(wrapped: dict[str, Any]) -> None:
    (ring,) = outline_of(wrapped, *GAUGE)
    assert ring.tolist() == SQUARE


def circle(vertices: int) -> list[list[float]]:
    angles = np.linspace(0, 2 * np.pi, vertices - 1)
    ring = [[-69.3 + 0.1 * math.cos(a), 45.1 + 0.1 * math.sin(a)] for a in angles]
    return [*ring, ring[0]]


@pytest.mark.parametrize(
    ("outline", "sentence"),
    [
        ("a river", "no GeoJSON Polygon"),
        ({"type": "Point", "coordinates": [0, 0]}, "no GeoJSON Polygon"),
        ({"type": "FeatureCollection", "features": []}, "not one feature"),
        ({"type": "Feature", "geometry": None}, "no GeoJSON Polygon"),
        ({"type": "Polygon", "coordinates": 5}, "not lists of rings"),
        (polygon(), "not lists of rings"),
        (polygon("ring"), "not a list of places"),  # type: ignore[arg-type]
        (polygon(SQUARE[:-1]), "not closed"),
        (polygon([SQUARE[0], SQUARE[1], SQUARE[0]]), "not closed"),
        (polygon([[WEST, "45"], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, math.nan], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, 10**400], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[WEST, True], *SQUARE[1:]]), "in finite numbers"),
        (polygon([[lat, lon] for lon, lat in SQUARE]), "and its gauge at"),
        (polygon([[lon, lat + 90] for lon, lat in SQUARE]), "not on the Earth"),
        (polygon([[lon, lat + 1] for lon, lat in SQUARE]), "and its gauge at"),
        (polygon([[-170, 45], [170, 45], [170, 46], [-170, 46], [-170, 45]]), "degrees from end to end"),
        (polygon([SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3], SQUARE[0]]), "crosses itself near"),
        (polygon(circle(MOST_VERTICES + 1)), "simplify it"),
        (polygon(*[SQUARE] * 101), "101 rings"),
    ],
)
def test_an_outline_that_cannot_be_is_refused_by_name(outline: object, sentence: str) -> None:
    with pytest.raises(BadOutline, match=sentence):
        outline_of(outline, *GAUGE)
