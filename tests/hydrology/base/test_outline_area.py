"""The area that an outline covers, against formulas and published areas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.arrays import Array
from hydrology.base.outline import Polygon
from hydrology.base.outline_area import area_m2

SEMI_MAJOR, FLATTENING = 6_378_137.0, 1 / 298.257223563
E2 = FLATTENING * (2 - FLATTENING)


def box(west: float, south: float, east: float, north: float) -> Array:
    return np.array([[west, south], [east, south], [east, north], [west, north], [west, south]], np.float64)


def zone(south: float, north: float) -> float:
    """Return the area of a zone by a degree of longitude, by the closed formula of the authalic latitude."""

    def from_equator(latitude: float) -> float:
        sine, e = math.sin(math.radians(latitude)), math.sqrt(E2)
        return sine / (1 - E2 * sine**2) + math.log((1 + e * sine) / (1 - e * sine)) / (2 * e)

    return math.radians(1) * SEMI_MAJOR**2 * (1 - E2) / 2 * (from_equator(north) - from_equator(south))


def test_the_whole_ellipsoid_has_its_published_area() -> None:
    assert area_m2([[box(-180, -90, 180, 90)]]) == pytest.approx(510_065_621.724e6, rel=1e-11)  # Moritz 1980


@pytest.mark.extended
@given(st.floats(-89, 88), st.floats(0.01, 1), st.floats(-180, 180), st.floats(0.01, 20), st.booleans())
def test_a_box_of_degrees_has_the_area_of_the_formula(
    south: float, high: float, west: float, wide: float, clockwise: bool
) -> None:
    ring = box(west, south, west + wide, south + high)
    expected = wide * zone(south, south + high)
    assert area_m2([[ring[::-1] if clockwise else ring]]) == pytest.approx(expected, rel=1e-9)


def test_a_triangle_has_half_the_area_of_its_box_at_the_equator() -> None:
    triangle = np.array([[0, -0.5], [1, -0.5], [0, 0.5], [0, -0.5]])
    assert area_m2([[triangle]]) == pytest.approx(zone(-0.5, 0.5) / 2, rel=1e-9)


BOX, SHIFTED, WITHIN = box(0, 10, 1, 11), box(0.5, 10.5, 1.5, 11.5), box(0.25, 10.25, 0.75, 10.75)
ONE = zone(10, 11)
EIGHT = np.array([[0, 10], [1, 10], [1, 11], [1, 12], [2, 12], [2, 11], [1, 11], [0, 11], [0, 10]], np.float64)


@pytest.mark.parametrize(
    ("polygons", "expected"),
    [
        ([[BOX], [BOX]], ONE),
        ([[BOX], [WITHIN]], ONE),
        ([[BOX], [SHIFTED]], ONE + zone(10.5, 11.5) - 0.5 * zone(10.5, 11)),
        ([[BOX], [box(2, 10, 3, 11)]], 2 * ONE),
        ([[BOX, WITHIN]], ONE - 0.5 * zone(10.25, 10.75)),
        ([[BOX, WITHIN, WITHIN], [WITHIN]], ONE),
        ([[BOX, WITHIN], [BOX]], ONE),
        ([[EIGHT]], ONE + zone(11, 12)),
    ],
    ids=["twice", "overlap", "half", "apart", "hole", "island", "hole filled by another", "two touching, one turned"],
)
def test_an_area_covered_by_several_polygons_counts_once(polygons: list[Polygon], expected: float) -> None:
    assert area_m2(polygons) == pytest.approx(expected, rel=1e-9)


def test_polygons_that_cross_have_the_area_of_their_union() -> None:
    up = np.array([[-1, -1], [1, -1], [0, 1], [-1, -1]], np.float64)
    down = up * (1, -1)
    small = 0.01  # degrees: as long everywhere near the equator
    star = area_m2([[up * small], [down * small]]) / (zone(-small, small) / (2 * small)) / small**2
    assert star == pytest.approx(2 + 2 - 1, rel=1e-5)


def test_a_circle_has_the_area_of_a_circle() -> None:
    angles = np.linspace(0, 2 * np.pi, 1001)
    ring = np.column_stack([0.1 * np.cos(angles), 0.1 * np.sin(angles)])
    ring[-1] = ring[0]
    assert area_m2([[ring]]) == pytest.approx(math.pi * 0.01 * zone(-0.1, 0.1) / 0.2, rel=1e-4)


def test_many_pieces_are_no_harder_than_one() -> None:
    columns = [[box(column / 50, 10, (column + 1) / 50, 11)] for column in range(50)]
    assert area_m2([*columns, *columns]) == pytest.approx(ONE, rel=1e-9)
