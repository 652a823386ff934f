"""Sample paths of flow have each day's distribution and the persistence of errors."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.uncertainty.error_fit import Fit, fit
from hydrology.uncertainty.error_model import LEVELS, even_levels, mixed
from hydrology.uncertainty.error_paths import MIN_PATHS, SCORES, ordered, paths
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
    return paths(errors, simulated, quantiles, together(quantiles)), quantiles


def together(quantiles: Array) -> Array:
    return quantiles[0] if len(quantiles) == 1 else mixed(quantiles)


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


def test_each_day_has_the_distribution_of_all_traces(model: Fit) -> None:
    simulated = np.linspace(0.5, 4.0, 27)[:, None] * np.ones((27, 10))
    flows, quantiles = sample_paths(model, simulated)
    assert len(flows) == 27 * 4
    expected = [np.interp(even_levels(len(flows)), LEVELS, of_day) for of_day in mixed(quantiles)]
    np.testing.assert_allclose(np.sort(flows, axis=0).T, expected)


@pytest.mark.parametrize("traces", [1, 31, 51, 128])
@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_days_follow_each_other_as_independent_draws_do_whatever_the_number_of_traces(
    model: Fit, traces: int, apart: float
) -> None:
    """The same errors drawn without ranks, many for each trace, as an oracle."""
    leads, share, lasts, deviation = 20, 0.5, 0.98, 0.5
    of_basin = model.basins["basin 0"]
    memory = np.full_like(of_basin.memory, 0.9)
    errors = replace(of_basin, lasting_share=share, lasting_memory=lasts, memory=memory)
    generator = np.random.default_rng(5)
    simulated = np.exp(np.cumsum(generator.standard_normal((traces, leads)), axis=1) * apart / leads**0.5)
    quantiles = simulated[..., None] * np.exp(deviation * SCORES)
    found = paths(errors, simulated, quantiles, together(quantiles))
    forgets = (0.9 - share * lasts) / (1 - share)
    parts = [autoregression(generator, memory, (traces, 4000 // traces, leads)) for memory in (forgets, lasts)]
    error = (1 - share) ** 0.5 * parts[0] + share**0.5 * parts[1]
    drawn = (simulated[:, None] * np.exp(deviation * error)).reshape(-1, leads)
    near, expected = (np.corrcoef(np.log(of[:, 0]), np.log(of[:, 2]))[0, 1] for of in (found, drawn))
    assert near == pytest.approx(expected, abs=0.07)
    level = np.quantile(drawn, 0.9, axis=0).max()
    assert (found > level).any(axis=1).mean() == pytest.approx((drawn > level).any(axis=1).mean(), abs=0.09)
    assert found.sum(axis=1).std() == pytest.approx(drawn.sum(axis=1).std(), rel=0.15)


def autoregression(generator: np.random.Generator, memory: float, shape: tuple[int, ...]) -> Array:
    noise = generator.standard_normal(shape)
    for lead in range(1, shape[-1]):
        noise[..., lead] = memory * noise[..., lead - 1] + (1 - memory**2) ** 0.5 * noise[..., lead]
    return noise


def test_the_same_forecast_has_the_same_paths(model: Fit) -> None:
    simulated = np.linspace(0.5, 4.0, 10)[None]
    np.testing.assert_array_equal(sample_paths(model, simulated)[0], sample_paths(model, simulated)[0])


def test_ordered_paths_have_the_other_distribution_in_the_same_order() -> None:
    draw = np.random.default_rng(1)
    flows = draw.gamma(2.0, 1.0, (4000, 3))
    into = np.quantile(2.5 * flows + 0.7, LEVELS, axis=0).T
    after = ordered(flows, into, flows)
    assert (np.argsort(after, axis=0)[30:-30] == np.argsort(flows, axis=0)[30:-30]).all()  # the ends are alike
    np.testing.assert_allclose(np.quantile(after, LEVELS, axis=0).T, into, rtol=0.02)


def test_a_river_is_dry_on_as_many_paths_as_in_its_distribution() -> None:
    generator = np.random.default_rng(3)
    flows = np.maximum(generator.normal(0.25, 1.0, (200, 5)), 0.0)
    into = np.quantile(np.maximum(generator.normal(0.4, 1.0, (100_000, 1)), 0.0), LEVELS, axis=0).T.repeat(5, axis=0)
    after = ordered(flows, into, generator.normal(size=flows.shape))
    np.testing.assert_allclose((after == 0).mean(axis=0), 0.345, atol=0.05)
    wet = (after > 0)[flows == 0]
    assert 0 < wet.sum() < wet.size
    assert (after[flows > 0] > 0).all()
