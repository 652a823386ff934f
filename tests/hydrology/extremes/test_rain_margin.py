"""A margin is the smallest rain with which flow reaches a level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hydrology.base.absent import Absent
from hydrology.extremes.rain_margin import RAIN_MM, crossings, rain_margin, share_not_monotone

SIZES = np.array(RAIN_MM)
RISES = arrays(np.float64, (len(RAIN_MM), 5), elements=st.floats(0, 50))


@given(RISES, st.floats(0.1, 200))
def test_the_margin_of_a_monotone_response_is_where_its_interpolation_reaches_the_level(
    rises: np.ndarray[tuple[int, int], np.dtype[np.float64]], level: float
) -> None:
    peaks = rises.cumsum(axis=0)
    for margin, response in zip(crossings(peaks, RAIN_MM, level), peaks.T, strict=True):
        if response[0] >= level:
            assert margin == 0
        elif response[-1] < level:
            assert margin == np.inf
        else:
            assert np.interp(margin, SIZES, response) == pytest.approx(level, rel=1e-6, abs=1e-6)
            assert np.interp(margin * 0.99, SIZES, response) <= level * (1 + 1e-9)


@given(RISES, st.floats(0.1, 100), st.floats(1, 2))
def test_a_higher_level_takes_no_less_rain(
    rises: np.ndarray[tuple[int, int], np.dtype[np.float64]], level: float, factor: float
) -> None:
    for peaks in (rises.cumsum(axis=0), rises):  # monotone or not
        assert (crossings(peaks, RAIN_MM, level * factor) >= crossings(peaks, RAIN_MM, level) - 1e-9).all()


def test_a_response_that_falls_counts_at_its_first_crossing_and_in_the_share() -> None:
    falling = np.array([0, 2, 6, 4, 4, 8, 9, 9, 9.0])
    rising = np.arange(9.0)
    peaks = np.stack([falling, rising], axis=1)
    assert crossings(peaks, RAIN_MM, 4.0).tolist() == [12.0, 45.0]
    assert share_not_monotone(peaks) == 0.5
    assert share_not_monotone(rising[:, None] * [1.0, 2.0]) == 0
    assert share_not_monotone(np.full((9, 2), np.nan)) == 0


def test_windows_and_starts_are_treated_alike_and_a_missing_response_stays_missing() -> None:
    peaks = np.arange(9.0)[:, None] * np.ones((3, 2, 1, 4))
    peaks[2, 1, 3, 2] = np.nan
    margins = crossings(peaks, RAIN_MM, 2.5)
    assert margins.shape == (3, 2, 4)
    assert np.isnan(margins[2, 1]).tolist() == [False, False, True, False]
    assert (margins[0, 0] == 22.0).all()


def test_the_range_is_of_members_that_reach_the_level_or_states_that_they_do_not() -> None:
    ten = rain_margin([*range(10, 100, 10), np.inf], 300)
    assert (ten.low, ten.median, ten.status) == (10, 50, "needs-rain")
    assert isinstance(ten.high, Absent)
    assert str(ten.high) == "Flow does not reach it with 300 mm of rain."
    assert rain_margin([0, 0, 0, 20, 30], 300).status == "already-above"
    assert rain_margin([0, 20, np.inf, np.inf, np.inf], 300).status == "not-reached"
