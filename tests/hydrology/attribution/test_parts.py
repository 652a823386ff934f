"""Parts add up to what they are parts of, in both orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hydrology.attribution import CAUSES, PARTS, RERUN, Measure, interaction, split_change, split_error, whole_change

FLOW = st.floats(0, 1e4)
DAYS = 3
FLOWS = arrays(np.float64, (len(RERUN) - 1, DAYS), elements=FLOW)
ENDS = arrays(np.float64, (2, DAYS), elements=FLOW)


@given(ends=ENDS, between=FLOWS, others=FLOWS, correction=arrays(np.float64, DAYS, elements=st.floats(-100, 100)))
def test_the_parts_of_a_change_add_up_in_both_orders(
    ends: np.ndarray, between: np.ndarray, others: np.ndarray, correction: np.ndarray
) -> None:
    forward, reverse = (np.vstack([ends[0], corners, ends[1]]) for corners in (between, others))
    parts = split_change(forward, reverse, correction)
    change = ends[1] - ends[0] + correction
    for order in parts:
        np.testing.assert_allclose(order.sum(axis=0), change, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(whole_change(parts), change, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(interaction(parts).sum(axis=0), 0, atol=1e-9)


def test_each_part_is_the_change_by_its_own_input_and_the_orders_are_matched() -> None:
    """Of a flow that is the sum of its inputs, no part depends on the order."""
    sizes = np.arange(1.0, len(RERUN) + 1)[:, None] * np.ones(DAYS)
    forward = np.vstack([np.zeros(DAYS), sizes.cumsum(axis=0)])
    reverse = np.vstack([np.zeros(DAYS), sizes[::-1].cumsum(axis=0)])
    parts = split_change(forward, reverse, None)
    np.testing.assert_array_equal(parts[0, :-1], sizes)
    np.testing.assert_array_equal(interaction(parts)[:-1], 0)
    assert np.isnan(parts[:, PARTS.index("observed_flow")]).all()


def test_parts_in_an_order_that_was_not_computed_are_unknown() -> None:
    parts = split_change(np.ones((5, DAYS)), None, np.ones(DAYS))
    assert np.isnan(parts[1, :-1]).all()
    np.testing.assert_array_equal(whole_change(parts), 1)


@pytest.mark.parametrize("measure", ["volume", "peak"])
@given(flows=arrays(np.float64, (4, DAYS), elements=FLOW))
def test_the_parts_of_an_error_add_up(measure: Measure, flows: np.ndarray) -> None:
    split = split_error(measure, *flows)
    assert sum(getattr(split, cause) for cause in CAUSES) == pytest.approx(split.error, rel=1e-9, abs=1e-9)
    measured = np.sum if measure == "volume" else np.max
    assert split.observed == pytest.approx(measured(flows[3]))
    assert split.observed + split.error == pytest.approx(measured(flows[0]))
