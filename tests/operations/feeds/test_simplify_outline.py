"""A simplified outline is whole, short and nearly of the same area, whatever its shape."""

from typing import Any

import numpy as np
import pytest
from shapely import MultiPolygon, Polygon, box, union_all
from shapely.affinity import translate

from hydrology.base.outline import outline_of
from operations.feeds.add_gauge import MAX_VERTICES, simplified

GAUGE = (45.0, -69.0)


def around(area: Polygon | MultiPolygon) -> list[Polygon]:
    """Return the simplified polygons of an outline, as an alerting system would read them."""
    rings = simplified([[np.array(ring) for ring in part] for part in listed(area)])
    assert all(ring[0] == ring[-1] and len(ring) <= MAX_VERTICES for ring in rings)
    written = [Polygon([(float(f"{lon:.4f}"), float(f"{lat:.4f}")) for lat, lon in ring]) for ring in rings]
    assert all(polygon.is_valid for polygon in written)
    return written


def listed(area: Polygon | MultiPolygon) -> list[list[list[list[float]]]]:
    """Return the rings of each polygon as GeoJSON has them."""
    return [
        [[list(place) for place in ring.coords] for ring in (part.exterior, *part.interiors)]
        for part in getattr(area, "geoms", [area])
    ]


def ring_of(radius: np.ndarray[Any, Any], turns: np.ndarray[Any, Any]) -> Polygon:
    return Polygon(np.column_stack([GAUGE[1] + radius * np.cos(turns), GAUGE[0] + radius * np.sin(turns)]))


def necked(random: np.random.Generator, count: int) -> Polygon:
    """Return two lobes with a narrow, winding neck between them, whose banks are a few metres apart."""
    along = np.linspace(-0.3, 0.3, count)
    middle = 0.05 * np.sin(random.uniform(20, 60) * along) + np.cumsum(random.normal(0, 3e-4, count))
    half = 4e-4 + 0.06 * np.abs(along / 0.3) ** random.uniform(3, 6)
    north, south = np.column_stack([along, middle + half]), np.column_stack([along, middle - half])
    return Polygon(np.concatenate([north, south[::-1]]) + np.array(GAUGE[::-1]))


def spiral(turns: float, gap: float) -> Polygon:
    angle = np.linspace(1, turns * 2 * np.pi, 1500)
    outer, width = 0.02 + 0.02 * angle, 0.04 * np.pi * (1 - gap) * angle / angle[-1]
    sides = [np.column_stack([r * np.cos(angle), r * np.sin(angle)]) for r in (outer, outer - width)]
    return Polygon(np.concatenate([sides[0], sides[1][::-1]]) + np.array(GAUGE[::-1]))


def test_a_short_outline_stays_as_it_is() -> None:
    square = box(-69.8, 45.0, -68.8, 45.4)
    (same,) = around(square)
    assert same.equals(square)


def test_an_outline_with_a_narrow_neck_does_not_cross_itself() -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        outline = necked(random, int(random.integers(150, 1200)))
        assert outline.is_valid
        assert union_all(around(outline)).area == pytest.approx(outline.area, rel=0.1)


def test_stars_and_spirals_stay_whole() -> None:
    random = np.random.default_rng(8)
    turns = np.linspace(0, 2 * np.pi, 1200, endpoint=False)
    outlines = [spiral(2, 0.2), spiral(3, 0.5), spiral(4, 0.05)]
    for _ in range(30):
        waves = sum(random.uniform(0, 0.04) * np.sin(random.integers(2, 40) * turns) for _ in range(4))
        outlines.append(ring_of(0.3 + waves + random.normal(0, 1e-3, len(turns)), turns))
    for outline in outlines:
        assert outline.is_valid
        (simple,) = around(outline)
        assert simple.area == pytest.approx(outline.area, rel=0.1)


def test_an_outline_without_room_for_shortcuts_becomes_its_hull() -> None:
    tight = spiral(15, 0.5)
    (simple,) = around(tight)
    assert simple.buffer(0.02).contains(tight)


def test_holes_are_filled_and_pieces_that_overlap_are_one() -> None:
    lake = box(-69.2, 44.9, -69.0, 45.1)
    island = box(-69.15, 44.95, -69.1, 45.0)
    holed = Polygon(box(-69.4, 44.8, -68.9, 45.3).exterior, [lake.exterior])
    beside, sliver = translate(lake, 0.7), box(-69.4, 45.4, -69.0, 45.40001)
    pieces = around(MultiPolygon([holed, island, beside, translate(beside, 0.1), sliver]))
    assert sorted(round(piece.area, 6) for piece in pieces) == [0.06, 0.25]


def test_a_ring_that_touches_itself_is_split_where_it_touches() -> None:
    touching = [[-69.0, 45.0], [-68.9, 45.1], [-69.0, 45.2], [-69.1, 45.1], [-69.0, 45.0], [-69.1, 44.9], [-69.0, 44.8]]
    outline = outline_of({"type": "Polygon", "coordinates": [[*touching, [-68.9, 44.9], touching[0]]]}, *GAUGE)
    parts = [Polygon([(lon, lat) for lat, lon in ring]) for ring in simplified(outline)]
    assert [round(part.area, 4) for part in parts] == [0.02, 0.02]
    assert all(part.is_valid for part in parts)


def test_an_outline_across_the_180th_meridian_is_split_there() -> None:
    disc = ring_of(np.full(400, 0.5), np.linspace(0, 2 * np.pi, 400, endpoint=False))
    for east, count in ((249.0, 2), (249.4, 2), (248.6, 2), (248.0, 1), (250.0, 1), (-111.0, 2)):
        pieces = around(translate(disc, east, -45))
        assert len(pieces) == count
        assert all(-180 <= west < piece_east <= 180 for west, _, piece_east, _ in (piece.bounds for piece in pieces))
        assert sum(piece.area for piece in pieces) == pytest.approx(disc.area, rel=0.02)


def test_an_outline_written_in_two_halves_is_two_polygons() -> None:
    halves = MultiPolygon([box(179.8, -17, 180, -16.6), box(-180, -17, -179.9, -16.6)])
    for longitude in (179.95, -179.95, 180.0, -180.0):
        outline = outline_of({"type": "MultiPolygon", "coordinates": listed(halves)}, -16.8, longitude)
        rings = simplified(outline)
        assert {tuple(Polygon([(lon, lat) for lat, lon in ring]).bounds) for ring in rings} == {
            part.bounds for part in halves.geoms
        }
