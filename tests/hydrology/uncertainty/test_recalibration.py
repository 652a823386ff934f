"""Recalibrated distributions: their scores are those of a calibrated forecast, and few issue days change little."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.recalibration import PRIOR_ISSUE_DAYS, PRIOR_SPREAD, Recalibration, scores_of, weight_of

Array = npt.NDArray[np.float64]

NORMAL: Array = np.asarray(norm.ppf(LEVELS)) + 10.0
"""The quantiles of a flow with the mean 10 and the standard deviation 1."""


def issued(days: int) -> Array:
    return np.tile(NORMAL, (days, 1))


def drawn(days: int, mean: float, deviation: float, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(mean, deviation, days)


def test_scores_are_those_of_the_distribution() -> None:
    flows = np.array([10.0, 11.0, 8.5])
    np.testing.assert_allclose(scores_of(issued(3), flows), [0.0, 1.0, -1.5], atol=0.02)


def test_beyond_the_last_levels_the_score_is_the_mean_of_what_lies_there() -> None:
    beyond = norm.expect(lambda score: score, lb=norm.ppf(LEVELS[-1]), conditional=True)
    np.testing.assert_allclose(scores_of(issued(2), np.array([1.0, 99.0])), [-beyond, beyond], atol=0.01)


def test_flows_without_observation_and_dry_rivers_have_no_score() -> None:
    dry = np.maximum(NORMAL - 10.0, 0.0)
    assert np.isnan(scores_of(np.stack([NORMAL, dry]), np.array([np.nan, 0.5]))).all()


def test_the_scores_of_calibrated_forecasts_change_nothing() -> None:
    scores = [scores_of(issued(20), drawn(20, 10.0, 1.0, day))[:, np.newaxis] for day in range(2000)]
    fitted = Recalibration.fit(scores)
    assert fitted.centre == pytest.approx([0.0], abs=0.01)
    assert fitted.spread == pytest.approx([1.0], abs=0.02)
    same = Recalibration(np.zeros(1), np.ones(1))
    np.testing.assert_allclose(same.apply(issued(1)), issued(1))


def test_with_many_issue_days_the_distribution_becomes_that_of_what_came() -> None:
    scores = [scores_of(issued(20), drawn(20, 10.4, 0.7, day))[:, np.newaxis] for day in range(9000)]
    expected = 10.4 + 0.7 * norm.ppf(LEVELS)
    np.testing.assert_allclose(Recalibration.fit(scores).apply(issued(1))[0], expected, atol=0.03)


def test_the_basins_of_an_issue_day_count_as_one() -> None:
    alone = Recalibration.fit([np.full((1, 1), 1.0)] * 90)
    together = Recalibration.fit([np.full((50, 1), 1.0)] * 90)
    assert alone.centre == together.centre == pytest.approx([weight_of(PRIOR_ISSUE_DAYS)])
    np.testing.assert_array_equal(alone.spread, together.spread)


def test_each_lead_has_its_own_and_longer_ones_that_of_the_last() -> None:
    day = np.array([[2.0, np.nan, -2.0]])
    fitted = Recalibration.fit([day] * 30 + [np.array([[2.0]])])
    assert fitted.centre[0] > 0 > fitted.centre[2]
    assert (fitted.centre[1], fitted.spread[1]) == (0.0, PRIOR_SPREAD)
    moved = fitted.apply(issued(5))
    np.testing.assert_allclose(moved[1], 10.0 + PRIOR_SPREAD * (NORMAL - 10.0), atol=0.01)
    np.testing.assert_array_equal(moved[3], moved[2])


def test_wider_distributions_stay_ordered_and_above_zero() -> None:
    wide = Recalibration(np.array([-0.5]), np.array([2.5])).apply(issued(1) - 8.0)
    assert (np.diff(wide) >= 0).all()
    assert (wide[0, 0], wide[0, -1] > NORMAL[-1] - 8.0) == (0.0, True)


def test_beyond_the_last_level_flow_goes_on_as_its_logarithm() -> None:
    skewed = np.exp(norm.ppf(LEVELS))[np.newaxis]
    (wide,) = Recalibration(np.array([0.5]), np.array([1.6])).apply(skewed)
    assert wide[-1] == pytest.approx(np.exp(0.5 + 1.6 * norm.ppf(LEVELS[-1])), rel=0.01)


def test_scores_in_recalibrated_distributions_lead_back_to_those_before() -> None:
    fitted = Recalibration(np.array([0.3]), np.array([1.4]))
    flows = drawn(200, 10.0, 1.0)
    after = scores_of(np.repeat(fitted.apply(issued(1)), 200, axis=0), flows)
    np.testing.assert_allclose(fitted.undo(after[:, np.newaxis])[:, 0], scores_of(issued(200), flows), atol=0.02)
