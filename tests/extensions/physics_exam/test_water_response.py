"""Responses to changed weather, on series small enough to add up by hand."""

import numpy as np

from extensions.physics_exam.water_response import largest_excess, largest_rise, returned_share


def test_the_largest_excess_is_of_one_day_and_never_below_zero() -> None:
    flow = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    other = np.array([[2.0, 0.5, 2.5], [1.0, 2.0, 3.0]])
    assert largest_excess(flow, other).tolist() == [1.5, 0.0]


def test_the_returned_water_of_a_storm_is_the_maximum_over_days() -> None:
    without = np.ones((2, 4))
    with_storm = without + np.array([[4.0, 8.0, -6.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert returned_share(with_storm, without, np.array([10.0, 8.0])).tolist() == [1.2, 0.5]


def test_a_rise_is_measured_from_the_lowest_flow_before_it() -> None:
    assert largest_rise(np.array([[3.0, 2.0, 2.5, 1.0, 1.25], [3.0, 2.0, 1.0, 0.5, 0.25]])).tolist() == [0.5, 0.0]
