"""The smallest change that explains observed flow: a least-squares solution, none where there is nothing to explain."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.water.storage import (
    HIGHEST,
    LOWEST,
    MIN_FLOW_SHARE,
    OBSERVATION_ERROR,
    RAIN_ERROR,
    smallest_factors,
)

CELLS, DAYS, MEAN_FLOW = 4, 3, 2.0


def responses(seed: int = 0) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).gamma(1.0, size=(5, DAYS, CELLS + DAYS))


def test_it_is_the_least_squares_solution_with_its_prior() -> None:
    response = responses()
    observed = response.sum(axis=-1) * 1.1
    misfit = observed - response.sum(axis=-1)
    factors = smallest_factors(response, misfit, observed, MEAN_FLOW, CELLS)
    prior = np.r_[np.ones(CELLS), np.full(DAYS, RAIN_ERROR)]
    for sample in range(len(response)):
        error = OBSERVATION_ERROR * (observed[sample] + MIN_FLOW_SHARE * MEAN_FLOW)
        rows = np.vstack([response[sample] / error[:, None], np.diag(1 / prior)])
        wanted = np.r_[misfit[sample] / error, np.zeros(CELLS + DAYS)]
        np.testing.assert_allclose(factors[sample], np.linalg.lstsq(rows, wanted)[0], rtol=1e-9)


@pytest.mark.parametrize("share", [0.3, 3.0])
def test_flow_comes_nearer_to_what_was_observed_and_never_passes_it(share: float) -> None:
    response = responses(1)
    observed = response.sum(axis=-1) * share
    misfit = observed - response.sum(axis=-1)
    explained = np.einsum("ndg,ng->nd", response, smallest_factors(response, misfit, observed, MEAN_FLOW, CELLS))
    assert (np.sign(explained) == np.sign(misfit)).all()
    assert (np.abs(explained).sum(axis=1) < np.abs(misfit).sum(axis=1)).all()


def test_without_observations_or_without_error_nothing_changes() -> None:
    response = responses(2)
    computed = response.sum(axis=-1)
    unknown = np.full_like(computed, np.nan)
    assert not smallest_factors(response, unknown, np.zeros_like(computed), MEAN_FLOW, CELLS).any()
    assert not smallest_factors(response, np.zeros_like(computed), computed, MEAN_FLOW, CELLS).any()


def test_a_day_without_observation_has_no_influence() -> None:
    response = responses(3)
    observed = response.sum(axis=-1) * 2
    misfit = observed - response.sum(axis=-1)
    misfit[:, 1] = np.nan
    without = np.delete(response, 1, axis=1)
    expected = smallest_factors(without, np.delete(misfit, 1, axis=1), np.delete(observed, 1, axis=1), MEAN_FLOW, CELLS)
    np.testing.assert_allclose(smallest_factors(response, misfit, observed, MEAN_FLOW, CELLS), expected, rtol=1e-9)


def test_no_source_is_emptied_or_grows_without_bound() -> None:
    response = responses(4) * 100
    for observed in (np.zeros((5, DAYS)), np.full((5, DAYS), 1e6)):
        factors = smallest_factors(response, (observed - response.sum(axis=-1)) * 1e6, observed, MEAN_FLOW, CELLS)
        assert factors.min() >= LOWEST
        assert factors.max() <= HIGHEST
