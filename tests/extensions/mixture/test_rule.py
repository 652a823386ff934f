"""The shares of weather models, and the mixture by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from extensions.mixture.rule import A_YEAR, ages, drawn, mixed, shares
from hydrology.base.arrays import Array
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.error_paths import SCORES

LEADS = 5
SCORED = st.one_of(st.floats(0.0, 100.0), st.just(np.nan))
PAST = st.tuples(st.integers(1, 4), st.integers(0, 8)).flatmap(
    lambda shape: arrays(np.float64, (*shape, LEADS), elements=SCORED)
)


def normal(mean: float, width: float) -> Array:
    """Return the quantiles of a normal distribution at each lead."""
    return np.tile(mean + width * SCORES, (LEADS, 1))


@given(PAST)
def test_shares_are_positive_and_add_up_to_1_at_each_lead(scores: Array) -> None:
    share = shares(scores, np.arange(float(scores.shape[1])))
    assert share.shape == (len(scores), LEADS)
    assert (share > 0).all()
    np.testing.assert_allclose(share.sum(axis=0), 1)


@given(PAST)
def test_shares_follow_the_models_whatever_their_order(scores: Array) -> None:
    age = np.arange(float(scores.shape[1]))
    np.testing.assert_allclose(shares(scores[::-1], age), shares(scores, age)[::-1])


@pytest.mark.parametrize("models", [1, 2, 3])
def test_shares_are_equal_at_first_and_where_no_day_compares_two_models(models: int) -> None:
    alone = np.full((models, 4, LEADS), np.nan)
    alone[0] = 3.0
    for scores in (np.empty((models, 0, LEADS)), alone):
        np.testing.assert_allclose(shares(scores, np.arange(float(scores.shape[1]))), 1 / models)


@given(st.floats(0.1, 10), st.floats(1.05, 3))
def test_the_better_model_gains_with_each_issue_day_whatever_the_unit(unit: float, worse: float) -> None:
    scores = unit * np.stack([np.ones((12, LEADS)), np.full((12, LEADS), worse)])
    of_best = [shares(scores[:, :days], np.arange(float(days)))[0] for days in range(13)]
    assert (np.diff(of_best, axis=0) > 0).all()


def test_a_lead_without_scores_follows_its_neighbours_and_a_new_model_stays_at_the_mean() -> None:
    scores = np.full((3, 10, LEADS), np.nan)
    scores[0, :, 0], scores[1, :, 0] = 1.0, 2.0
    share = shares(scores, np.arange(10.0))
    assert (share[0] > share[2]).all()
    assert (share[2] > share[1]).all()
    assert (np.diff(share[0]) < 0).all()


def test_old_days_are_forgotten_and_the_season_of_last_year_less() -> None:
    scores = np.stack([np.ones((1, LEADS)), np.full((1, LEADS), 2.0)])
    of_best = [shares(scores, ages(np.array([days])))[0, 0] for days in (0.0, A_YEAR, A_YEAR / 2)]
    assert of_best == sorted(of_best, reverse=True)
    assert ages(np.array([0.0, 3.0, A_YEAR - 3, A_YEAR + 3])).tolist() == pytest.approx([0, 3, 48, 48])


def test_a_mixture_has_the_distribution_of_its_parts_by_their_shares() -> None:
    """The chance of staying below a flow is the mean of the models' chances."""
    parts, share = np.stack([normal(10, 1), normal(14, 2)]), np.tile([[0.7], [0.3]], (1, LEADS))
    share[:, 1] = 0.2, 0.8
    found = mixed(parts, share)
    for lead in range(LEADS):
        below = [np.interp(found[lead], part[lead], LEVELS) for part in parts]
        np.testing.assert_allclose(share[:, lead] @ below, LEVELS, atol=0.01)


def test_models_that_agree_are_not_changed() -> None:
    alike = normal(10, 1)
    np.testing.assert_allclose(mixed(np.stack([alike, alike]), np.full((2, LEADS), 0.5)), alike, rtol=8e-3)
    np.testing.assert_allclose(
        mixed(np.stack([alike, 2 * alike]), np.array([[1.0], [0.0]]) @ np.ones((1, LEADS))), alike, rtol=8e-3
    )


def test_paths_have_the_distribution_of_each_day_and_come_by_the_shares() -> None:
    chance = np.random.default_rng(3)
    quantiles = np.stack([normal(10, 1), normal(30, 1)])
    paths = [mean + np.sort(chance.normal(size=100))[:, None] + np.zeros(LEADS) for mean in (10.0, 30.0)]
    share = np.tile([[0.75], [0.25]], (1, LEADS))
    into = mixed(quantiles, share)
    found = drawn(paths, quantiles, share, into)
    assert found.shape == (100, LEADS)
    assert ((found > 20).sum(axis=0) == 25).all()
    for level in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(np.quantile(found, level, axis=0), into[:, LEVELS.index(level)], atol=0.6)
    assert (np.ptp(found, axis=1) < 1e-9).all()  # a path stays with its model
