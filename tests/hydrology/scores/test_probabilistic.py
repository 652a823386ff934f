"""Scores of distributions, against closed forms."""

import numpy as np
import pytest
from scipy import stats

from hydrology.scores.probabilistic import crps, exceedance_probability, pit

LEVELS = np.linspace(0.0005, 0.9995, 1999)


@pytest.mark.parametrize("observed", [-1.3, 0.0, 0.4, 2.2])
def test_crps_of_a_normal_distribution_is_the_closed_form(observed: float) -> None:
    """Gneiting et al. 2005, doi:10.1175/MWR2904.1, equation 5."""
    normal = stats.norm
    expected = observed * (2 * normal.cdf(observed) - 1) + 2 * normal.pdf(observed) - 1 / np.sqrt(np.pi)
    score = crps(normal.ppf(LEVELS)[np.newaxis], list(LEVELS), np.array([observed]))
    assert score == pytest.approx([expected], abs=2e-3)


def test_crps_of_a_certain_forecast_is_its_distance() -> None:
    certain = np.full((2, len(LEVELS)), 3.0)
    assert crps(certain, list(LEVELS), np.array([5.0, 3.0])) == pytest.approx([2.0, 0.0], abs=3e-3)


def test_exceedance_probability_is_interpolated_between_quantiles() -> None:
    levels = [0.1, 0.5, 0.9]
    quantiles = np.array([[1.0, 2.0, 4.0]])
    chances = [exceedance_probability(quantiles, levels, threshold).item() for threshold in (0.5, 1.0, 3.0, 4.0, 9.0)]
    assert chances == pytest.approx([0.9, 0.9, 0.3, 0.1, 0.1])


def test_the_pit_is_the_level_of_what_was_observed() -> None:
    levels = [0.1, 0.5, 0.9]
    quantiles = np.repeat([[1.0, 2.0, 4.0]], 4, axis=0)
    both = pit(quantiles, levels, np.array([0.5, 1.5, 3.0, 9.0])).T
    np.testing.assert_allclose(both, [[0.1, 0.3, 0.7, 0.9]] * 2)


def test_the_pit_of_a_dry_river_is_drawn_below_the_probability_of_zero_flow() -> None:
    levels = [0.1, 0.5, 0.9]
    dry = pit(np.array([[0.0, 0.0, 3.0], [3.0, 3.0, 3.0], [1.0, 2.0, 2.0]]), levels, np.array([0.0, 3.0, 2.0]))
    assert dry.tolist() == [[0.0, 0.5], [0.0, 1.0], [0.5, 1.0]]
