"""Weighted means and quantiles: equal weights are the usual ones, and a weight moves them to its member."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hydrology.uncertainty.weighted import reached_by_shares, weighted_mean, weighted_quantiles

LEVELS = (0.0, 0.05, 0.25, 0.5, 0.9, 1.0)
FLOWS = hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.floats(0, 1e3))


def equal(values: np.ndarray) -> np.ndarray:
    return np.full(len(values), 1 / len(values))


@given(FLOWS)
def test_equal_weights_give_the_usual_mean_and_quantiles(values: np.ndarray) -> None:
    np.testing.assert_array_equal(weighted_mean(values, None), values.mean(axis=0))
    np.testing.assert_array_equal(weighted_quantiles(values, LEVELS, None), np.quantile(values, LEVELS, axis=0))
    np.testing.assert_allclose(weighted_mean(values, equal(values)), values.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        weighted_quantiles(values, LEVELS, equal(values)), np.quantile(values, LEVELS, axis=0), rtol=1e-9, atol=1e-6
    )


@given(FLOWS, st.integers(0, 1000))
def test_quantiles_rise_with_their_level_within_the_members(values: np.ndarray, seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(values))) + 1e-6
    found = weighted_quantiles(values, LEVELS, weights / weights.sum())
    assert (np.diff(found, axis=0) >= -1e-9).all()
    np.testing.assert_allclose(found[0], values.min(axis=0))
    np.testing.assert_allclose(found[-1], values.max(axis=0))


@given(FLOWS, st.permutations(range(4)))
def test_the_order_of_the_members_does_not_matter(values: np.ndarray, order: list[int]) -> None:
    weights = np.arange(1, len(values) + 1) / np.arange(1, len(values) + 1).sum()
    at = np.argsort([*order, *range(4, len(values))][: len(values)])
    moved = weighted_quantiles(values[at], LEVELS, weights[at])
    np.testing.assert_allclose(moved, weighted_quantiles(values, LEVELS, weights), atol=1e-6)


def test_a_heavy_member_draws_the_median() -> None:
    values = np.array([[1.0], [2.0], [10.0]])
    assert weighted_quantiles(values, 0.5, np.array([0.1, 0.1, 0.8])) == pytest.approx(
        np.interp(0.5, [0, 0.1 / 0.55, 1], [1, 2, 10])
    )
    assert weighted_mean(values, np.array([0.1, 0.1, 0.8])) == pytest.approx(8.3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=12))
def test_a_weight_counts_as_that_many_members_in_the_inverse_distribution(members: list[tuple[int, int]]) -> None:
    values, times = np.array(members, float).T
    repeated = np.repeat(values, times.astype(int))
    shares = (0.05, 0.5, 0.95, 1.0)
    expected = np.quantile(repeated, shares, method="inverted_cdf").tolist()
    assert reached_by_shares(repeated, shares, None) == expected
    assert reached_by_shares(values, shares, times / times.sum()) == expected
