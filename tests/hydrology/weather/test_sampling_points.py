"""The points that stand for a basin."""

import math

import numpy as np
import pytest

from hydrology.base.arrays import Array
from hydrology.base.outline import BadOutline, Polygon
from hydrology.base.outline_area import MAX_POINTS, weather_points

WEST, SOUTH, EAST, NORTH = -69.8, 45.0, -68.8, 45.4
SQUARE = np.array([[WEST, SOUTH], [EAST, SOUTH], [EAST, NORTH], [WEST, NORTH], [WEST, SOUTH]])


def test_a_basin_is_halved_into_parts_and_each_has_a_point_within() -> None:
    points = weather_points([[SQUARE]])
    assert len(points) == MAX_POINTS
    middle_east, middle_north = (WEST + EAST) / 2, (SOUTH + NORTH) / 2
    quarters = {(latitude > middle_north, longitude > middle_east) for latitude, longitude in points}
    assert len(quarters) == MAX_POINTS
    assert all(SOUTH < latitude < NORTH and WEST < longitude < EAST for latitude, longitude in points)


def test_a_small_basin_has_one_point_and_a_larger_one_two() -> None:
    def square(km: float) -> Array:
        high, wide = km / 111.2, km / 111.2 / math.cos(math.radians(45))
        return np.array([[-69, 45], [-69 + wide, 45], [-69 + wide, 45 + high], [-69, 45 + high], [-69, 45]])

    assert [len(weather_points([[square(km)]])) for km in (0.5, 15, 22, 30)] == [1, 1, 2, 4]


def test_no_point_lies_in_a_hole() -> None:
    hole = np.array([[-69.7, 45.05], [-68.9, 45.05], [-68.9, 45.35], [-69.7, 45.35], [-69.7, 45.05]])
    for latitude, longitude in weather_points([[SQUARE, hole]]):
        assert not (-69.7 < longitude < -68.9 and 45.05 < latitude < 45.35)


@pytest.mark.parametrize("rings", [[np.array([[-69.3, 45.1]] * 5)], [SQUARE, SQUARE]])
def test_an_outline_without_area_is_refused(rings: Polygon) -> None:
    with pytest.raises(BadOutline, match="no area"):
        weather_points([rings])


def test_overlapping_and_repeated_pieces_are_one_area() -> None:
    within = np.array([[-69.7, 45.05], [-68.9, 45.05], [-68.9, 45.35], [-69.7, 45.35], [-69.7, 45.05]])
    whole = weather_points([[SQUARE]])
    assert weather_points([[SQUARE], [SQUARE]]) == weather_points([[SQUARE], [within]]) == whole


def test_points_beyond_the_180th_meridian_are_written_from_minus_180() -> None:
    fiji = SQUARE + np.array([249.3, -62.0])  # from 179.5 to 180.5
    longitudes = [longitude for _, longitude in weather_points([[fiji]])]
    assert min(longitudes) < -179.5
    assert max(longitudes) > 179.5
