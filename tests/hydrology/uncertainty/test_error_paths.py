"""Sample paths of flow have each day's distribution and the persistence of errors."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.uncertainty.error_fit import Fit, fit
from hydrology.uncertainty.error_model import LEVELS, even_levels, mixed
from hydrology.uncertainty.error_paths import MIN_PATHS, moved, paths
from tests.hydrology.uncertainty.test_error_model import synthetic_pairs

Array = npt.NDArray[np.float64]
LEADS = np.arange(1.0, 11.0)


@pytest.fixture(scope="module")
def model() -> Fit:
    return fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(4)})


def sample_paths(model: Fit, simulated: Array) -> tuple[Array, Array]:
    errors = model.basins["basin 0"]
    quantiles = np.stack(
        [model.shape.flow_quantiles(errors, trace, LEADS, np.zeros(len(LEADS))) for trace in simulated]
    )
    return paths(errors, simulated, quantiles), quantiles


def test_each_day_has_its_distribution(model: Fit) -> None:
    flows, quantiles = sample_paths(model, np.full((1, 10), 2.0))
    assert flows.shape == (MIN_PATHS, 10)
    expected = [np.interp(even_levels(MIN_PATHS), LEVELS, of_day) for of_day in quantiles[0]]
    np.testing.assert_allclose(np.sort(flows, axis=0).T, expected)


def test_days_follow_each_other_as_errors_do(model: Fit) -> None:
    """The errors that the model was fitted to are an autoregression of 0.8."""
    flows, _ = sample_paths(model, np.full((1, 10), 2.0))
    ranks = flows.argsort(axis=0).argsort(axis=0)
    near, far = (
        np.mean([np.corrcoef(ranks[:, at], ranks[:, at + by])[0, 1] for at in range(10 - by)]) for by in (1, 5)
    )
    assert near == pytest.approx(0.8, abs=0.12)
    assert far == pytest.approx(0.8**5, abs=0.2)


def test_exceedance_over_days_lies_between_one_day_and_independent_days(model: Fit) -> None:
    flows, _ = sample_paths(model, np.full((1, 10), 2.0))
    level = np.quantile(flows, 0.9)
    of_days = (flows > level).mean(axis=0)
    of_any = (flows > level).any(axis=1).mean()
    assert of_days.max() < of_any < 1 - np.prod(1 - of_days) - 0.05


def test_traces_are_mixed_as_their_distributions_are(model: Fit) -> None:
    simulated = np.linspace(0.5, 4.0, 27)[:, None] * np.ones((27, 10))
    flows, quantiles = sample_paths(model, simulated)
    assert len(flows) == 27 * 4
    mixture = mixed(quantiles)
    for level in (0.1, 0.5, 0.9):
        lower = (flows < mixture[:, LEVELS.index(level)]).mean(axis=0)
        np.testing.assert_allclose(lower, level, atol=0.06)


def test_the_same_forecast_has_the_same_paths(model: Fit) -> None:
    simulated = np.linspace(0.5, 4.0, 10)[None]
    np.testing.assert_array_equal(sample_paths(model, simulated)[0], sample_paths(model, simulated)[0])


def test_moved_paths_have_the_other_distribution_in_the_same_order() -> None:
    draw = np.random.default_rng(1)
    flows = draw.gamma(2.0, 1.0, (4000, 3))
    of, into = (np.quantile(scale * flows + plus, LEVELS, axis=0).T for scale, plus in ((1.0, 0.0), (2.5, 0.7)))
    after = moved(flows, of, into)
    assert (np.argsort(after, axis=0) == np.argsort(flows, axis=0)).mean() > 0.98  # but for the ends, which are cut
    inner = slice(1, -1)
    np.testing.assert_allclose(np.quantile(after, LEVELS, axis=0).T[:, inner], into[:, inner], rtol=0.02)


def test_paths_moved_to_their_own_distribution_stay() -> None:
    flows = np.random.default_rng(2).gamma(2.0, 1.0, (1000, 2))
    of = np.quantile(flows, LEVELS, axis=0).T
    inside = (flows >= of[:, 0]) & (flows <= of[:, -1])
    np.testing.assert_allclose(moved(flows, of, of)[inside], flows[inside])
