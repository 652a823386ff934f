"""The map shows every basin, at the right side of every other, over outlines."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.pages.rivers_map import NAMES, WIDTH, Places, Projection, borders, outlines, projection

Place = tuple[float, float]
PLACES = st.lists(
    st.tuples(st.floats(-85, 85, allow_nan=False), st.floats(-180, 180, allow_nan=False)),
    min_size=1,
    max_size=20,
)


def columns(places: list[Place]) -> Places:
    return np.array(places, dtype=np.float64).T


def x(projected: Projection, longitude: float) -> float:
    """Return the distance from the left."""
    return float(projected.across(np.array(longitude)))


def y(projected: Projection, latitude: float) -> float:
    """Return the distance from the top."""
    return float(projected.down(np.array(latitude)))


@given(PLACES)
def test_every_place_is_on_the_map(places: list[Place]) -> None:
    projected = projection(columns(places))
    for latitude, longitude in places:
        assert 0 <= x(projected, longitude) <= WIDTH
        assert 0 <= y(projected, latitude) <= projected.height + 1


def test_north_is_up_and_east_is_right() -> None:
    fish_river, rio_grande = (47.2, -68.6), (29.3, -100.9)
    projected = projection(columns([fish_river, rio_grande]))
    assert y(projected, fish_river[0]) < y(projected, rio_grande[0])
    assert x(projected, fish_river[1]) > x(projected, rio_grande[1])


def test_a_degree_north_is_as_long_as_it_is_on_the_ground() -> None:
    projected = projection(columns([(44, -110), (46, -108)]))
    east = x(projected, -108) - x(projected, -109)
    north = y(projected, 44.5) - y(projected, 45.5)
    assert abs(east / north - 0.7071) < 0.005  # the cosine of 45 degrees


def test_states_are_drawn_in_the_united_states_and_countries_elsewhere() -> None:
    colorado, alps = [(39.0, -106.0)], [(46.5, 8.0)]
    in_states, in_countries = (borders(projection(columns(places)), columns(places)) for places in (colorado, alps))
    assert in_states.startswith("M")
    assert in_countries.startswith("M")
    assert borders(projection(columns([*colorado, *alps])), columns([*colorado, *alps])).count(
        "M"
    ) > in_countries.count("M")


def test_outlines_are_on_the_globe() -> None:
    for name in NAMES:
        for line in outlines(name):
            assert len(line) > 1
            assert all(-180 <= longitude <= 180 and -90 <= latitude <= 90 for longitude, latitude in line)


def test_places_on_both_sides_of_the_180th_meridian_are_beside_each_other() -> None:
    fiji, atka = (-17.8, 177.97), (52.2, -174.2)
    projected = projection(columns([fiji, atka]))
    assert projected.box.east - projected.box.west < 180
    assert x(projected, atka[1]) > x(projected, fiji[1])
    assert 0 < x(projected, fiji[1]) < x(projected, atka[1]) < WIDTH


def test_outlines_are_drawn_on_both_sides_of_the_180th_meridian() -> None:
    place = (65.0, 179.9)  # Chukotka goes on beyond it
    path = borders(projection(columns([place])), columns([place]))
    numbers = [
        x for line in path.split("M")[1:] for x in np.cumsum([int(text) for text in re.findall(r"-?\d+", line)][::2])
    ]
    middle = WIDTH / 2
    assert any(0 <= x < middle for x in numbers)
    assert any(middle < x <= WIDTH for x in numbers)
