"""Longitudes modulo 360."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.outline import difference, extent, normalised, unwrapped

LONGITUDES = st.floats(-360, 360, allow_nan=False)


@pytest.mark.parametrize(
    ("longitude", "reference", "expected"),
    [(-179.9, 179.9, 0.2), (179.9, -179.9, -0.2), (180, -180, 0), (10, 350, 20), (-115.6, -115.5, -0.1)],
)
def test_a_difference_goes_the_short_way(longitude: float, reference: float, expected: float) -> None:
    assert float(difference(longitude, reference)) == pytest.approx(expected, abs=1e-9)


@given(LONGITUDES, LONGITUDES)
def test_an_unwrapped_longitude_is_the_same_meridian_near_its_reference(longitude: float, reference: float) -> None:
    near = float(unwrapped(longitude, reference))
    assert abs(near - reference) <= 180 + 1e-9
    turns = (near - longitude) / 360
    assert turns == pytest.approx(round(turns), abs=1e-9)
    assert -180 <= normalised(longitude) <= 180


@given(st.lists(st.floats(-180, 180, allow_nan=False), min_size=1, max_size=10))
def test_an_extent_holds_every_longitude_and_none_is_shorter(longitudes: list[float]) -> None:
    west, east = extent(longitudes)
    assert -180 <= west <= 180
    assert west <= east
    for longitude in longitudes:
        assert any(west <= longitude + turn <= east for turn in (0, 360))
    gaps = np.diff([*sorted(longitudes), min(longitudes) + 360])
    assert east - west == pytest.approx(360 - max(gaps))


def test_an_extent_crosses_the_180th_meridian_where_that_is_shorter() -> None:
    assert extent([-179, 178]) == (178, 181)
    assert extent([-120, 8]) == (-120, 8)
    assert extent([5.0]) == (5.0, 5.0)
