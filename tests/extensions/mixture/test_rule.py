"""The shares of weather models, and the mixture by them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from extensions.mixture.rule import A_YEAR, Losses, ages, distances, drawn, expected_losses, mixed
from hydrology.base.arrays import Array
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.error_paths import SCORES

LEADS = 5
SCORED = st.one_of(st.floats(0.0, 100.0), st.just(np.nan))
PAST = st.tuples(st.integers(1, 4), st.integers(0, 8)).flatmap(
    lambda shape: arrays(np.float64, (*shape, LEADS), elements=SCORED)
)


def normal(mean: float, width: float = 1.0) -> Array:
    """Return the quantiles of a normal distribution at each lead."""
    return np.tile(mean + width * SCORES, (LEADS, 1))


def shares(scores: Array, age: Array | None = None, apart: float = 0.5) -> Array:
    """Return the shares in a basin alone, of models that are equally far apart on each issue day."""
    models, issues, _ = scores.shape
    mean = np.nan_to_num(scores).mean() if issues else 0.0
    distance = apart * mean * (1 - np.eye(models))[:, :, None, None] * np.ones(scores.shape[1:])
    losses = Losses.of(scores, distance, np.arange(float(issues)) if age is None else age)
    return losses.shares(losses)


@given(PAST)
def test_shares_are_not_negative_and_add_up_to_1_at_each_lead(scores: Array) -> None:
    share = shares(scores)
    assert share.shape == (len(scores), LEADS)
    assert (share >= 0).all()
    np.testing.assert_allclose(share.sum(axis=0), 1)


@given(PAST)
def test_shares_follow_the_models_whatever_their_order(scores: Array) -> None:
    np.testing.assert_allclose(shares(scores[::-1]), shares(scores)[::-1], atol=1e-6)


@pytest.mark.parametrize("models", [1, 2, 3])
def test_shares_are_equal_at_first_and_where_no_day_compares_two_models(models: int) -> None:
    alone = np.full((models, 4, LEADS), np.nan)
    alone[0] = 3.0
    for scores in (np.empty((models, 0, LEADS)), alone):
        np.testing.assert_allclose(shares(scores), 1 / models)


@given(st.floats(0.1, 10), st.floats(1.02, 1.2))
def test_the_better_model_gains_with_each_issue_day_whatever_the_unit(unit: float, worse: float) -> None:
    scores = unit * np.stack([np.ones((12, LEADS)), np.full((12, LEADS), worse)])
    of_best = np.array([shares(scores[:, :days])[0] for days in range(13)])
    assert (np.diff(of_best, axis=0) > 0).all()
    np.testing.assert_allclose(of_best, [shares(scores[:, :days] / unit)[0] for days in range(13)])


def test_shares_are_those_of_the_least_crps_of_the_mixture() -> None:
    """No other shares have a lower CRPS over many past days, up to the pull to equal ones."""
    chance = np.random.default_rng(5)
    came = 10 + chance.normal(size=60)
    errors = chance.normal(size=(2, 60)) * [[0.7], [1.0]]
    own = [[came[day] + error[day] + SCORES for day in range(60)] for error in errors]
    quantiles = np.array(own)[:, :, np.newaxis]  # (models, issues, 1 lead, levels)
    scores = np.stack([crps(of[:, 0], LEVELS, came)[:, np.newaxis] for of in quantiles])
    losses = Losses.of(scores, distances(quantiles), np.zeros(60))
    found = float(losses.shares(losses)[0, 0])

    def of_mixture(share: float) -> float:
        both = np.array([[share], [1 - share]])
        pooled = np.concatenate([mixed(of_day, both) for of_day in quantiles.swapaxes(0, 1)])
        return float(crps(pooled, LEVELS, came).mean())

    others = np.linspace(0, 1, 21)
    least = others[np.argmin([of_mixture(share) for share in others])]
    assert found == pytest.approx(least, abs=0.08)
    assert of_mixture(found) < min(of_mixture(0.0), of_mixture(1.0))


def test_the_distance_is_the_integral_of_the_squared_difference() -> None:
    one, other = normal(10), normal(12, 2)
    flow = np.linspace(0, 25, 20_001)
    below = [np.interp(flow, part[0], LEVELS, left=0, right=1) for part in (one, other)]
    expected = np.trapezoid((below[0] - below[1]) ** 2, flow)
    found = distances(np.stack([one, other]))
    np.testing.assert_allclose(found[0, 1], expected, rtol=0.02)
    np.testing.assert_allclose([found[0, 0], found[1, 1]], 0, atol=1e-12)


def test_a_lead_without_scores_follows_its_neighbours_and_a_new_model_stays_at_the_mean() -> None:
    scores = np.full((3, 10, LEADS), np.nan)
    scores[0, :, 0], scores[1, :, 0] = 1.0, 1.1
    share = shares(scores)
    assert (share[0] > share[2]).all()
    assert (share[2] > share[1]).all()


def test_weather_that_comes_true_counts_before_any_flow_has_come() -> None:
    none = Losses.none(2, LEADS)
    assert (none.shares(none, expected_losses([[0.9, 0.7], [0.8, 0.5]], [1, 1]))[0] > 0.5).all()
    np.testing.assert_allclose(none.shares(none, expected_losses([[0.9, 0.7]] * 2, [1, 1])), 0.5)
    np.testing.assert_allclose(none.shares(none, expected_losses([[1.0], [1.0]], [1, 1])), 0.5)


def test_a_new_weather_model_is_not_measured_by_what_is_assumed() -> None:
    none, skills = Losses.none(2, LEADS), [[0.9, 0.7], [0.8, 0.5]]
    np.testing.assert_allclose(none.shares(none, expected_losses(skills, [9, 0])), 0.5)
    np.testing.assert_allclose(none.shares(none, expected_losses(skills, [0, 0])), 0.5)
    of_few, of_many = (none.shares(none, expected_losses(skills, [9, count]))[0] for count in (1, 9))
    assert ((of_few > 0.5) & (of_many > of_few)).all()


def test_what_other_basins_show_counts_too() -> None:
    none = Losses.none(2, LEADS)
    scores = np.stack([np.ones((6, LEADS)), np.full((6, LEADS), 1.3)])
    other = Losses.of(scores, np.zeros((2, 2, 6, LEADS)), np.arange(6.0))
    assert (none.shares(Losses.mean([none, other]))[0] > 0.5).all()


def test_old_days_are_forgotten_and_the_season_of_last_year_less() -> None:
    scores = np.stack([np.ones((1, LEADS)), np.full((1, LEADS), 1.2)])
    of_best = [shares(scores, ages(np.array([days])))[0, 0] for days in (0.0, A_YEAR, A_YEAR / 2)]
    assert of_best == sorted(of_best, reverse=True)
    assert ages(np.array([0.0, 3.0, A_YEAR - 3, A_YEAR + 3])).tolist() == pytest.approx([0, 3, 48, 48])


def test_a_mixture_has_the_distribution_of_its_parts_by_their_shares() -> None:
    """The chance of staying below a flow is the mean of the models' chances."""
    parts, share = np.stack([normal(10), normal(14, 2)]), np.tile([[0.7], [0.3]], (1, LEADS))
    share[:, 1] = 0.2, 0.8
    found = mixed(parts, share)
    for lead in range(LEADS):
        below = [np.interp(found[lead], part[lead], LEVELS) for part in parts]
        np.testing.assert_allclose(share[:, lead] @ below, LEVELS, atol=0.01)


def test_models_that_agree_are_not_changed() -> None:
    alike = normal(10)
    np.testing.assert_allclose(mixed(np.stack([alike, alike]), np.full((2, LEADS), 0.5)), alike, rtol=8e-3)
    without = np.tile([[1.0], [0.0]], (1, LEADS))
    np.testing.assert_allclose(mixed(np.stack([alike, 2 * alike]), without), alike, rtol=8e-3)


def test_paths_have_the_distribution_of_each_day_and_come_by_the_shares() -> None:
    chance = np.random.default_rng(3)
    quantiles = np.stack([normal(10), normal(30)])
    paths = [mean + np.sort(chance.normal(size=100))[:, None] + np.zeros(LEADS) for mean in (10.0, 30.0)]
    share = np.tile([[0.75], [0.25]], (1, LEADS))
    into = mixed(quantiles, share)
    found = drawn(paths, into, share)
    assert found.shape == (100, LEADS)
    assert (abs((found > 20).sum(axis=0) - 25) <= 2).all()  # the levels are 5 % apart
    for level in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(np.quantile(found, level, axis=0), into[:, LEVELS.index(level)], atol=0.6)
    assert (np.ptp(found, axis=1) < 1e-9).all()  # a path stays with its model
