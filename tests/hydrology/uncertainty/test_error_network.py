"""The error network moves what the tables have of days whose last flow is known, and of no other."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.uncertainty.error_fit import Fit, fit
from hydrology.uncertainty.error_model import GAPS, BasinErrorModel, NetworkInputs, Shape, errors_of
from hydrology.uncertainty.error_network import MOVES, PAST, DaysAhead, ErrorNetwork
from tests.hydrology.uncertainty.test_error_model import synthetic_pairs

SERIES = np.arange(1.0, 21.0)
HIDDEN = 8


def network(model: Fit, seed: int | None = None) -> ErrorNetwork:
    """Return one of random weights, or one that moves nothing."""
    pairs, chance = synthetic_pairs(0), np.random.default_rng(seed)
    errors = model.basins["basin 0"]
    days = DaysAhead.after(pairs.simulated, np.ones(len(pairs.simulated)), np.zeros(len(pairs.simulated)))
    inputs = NetworkInputs.of(errors, days).features.shape[1]

    def weights(*shape: int) -> npt.NDArray[np.float32]:
        return (0.3 * (seed is not None) * chance.standard_normal(shape)).astype(np.float32)

    return ErrorNetwork(
        quantiles=model.shape.quantiles[: len(GAPS)].astype(np.float32),
        mean=np.zeros(inputs, np.float32),
        scale=np.ones(inputs, np.float32),
        first=weights(inputs, HIDDEN),
        first_bias=weights(HIDDEN),
        second=weights(HIDDEN, HIDDEN),
        second_bias=weights(HIDDEN),
        last=weights(HIDDEN, MOVES),
        last_bias=weights(MOVES),
    )


@pytest.fixture(scope="module")
def model() -> Fit:
    return fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(3)})


def days_ahead(model: Fit, gap: int) -> DaysAhead:
    pairs = synthetic_pairs(7)
    last = np.arange(PAST, len(pairs.simulated) - gap)
    errors = errors_of(model.basins["basin 0"], pairs.simulated, pairs.observed)
    return DaysAhead.of(pairs.simulated, errors, last, last + gap)


def test_days_have_what_was_before_them_and_before_the_last_flow() -> None:
    days = DaysAhead.of(SERIES, -SERIES, np.array([0, 3, 10]), np.array([1, 3, 14]))
    np.testing.assert_array_equal(days.simulated, [2, 4, 15])
    np.testing.assert_array_equal(days.before, [1, 3, 14])
    np.testing.assert_array_equal(days.gap, [1, 1, 4])
    np.testing.assert_array_equal(days.last_simulated, [[1, np.nan], [4, 3], [11, 10]])
    missing = np.nan
    np.testing.assert_array_equal(
        days.last_errors, [[-1, *[missing] * 4], [-4, -3, -2, -1, missing], [-11, -10, -9, -8, -7]]
    )


@pytest.mark.parametrize("gap", [1, 4, 30])
def test_a_network_that_moves_nothing_leaves_the_tables(model: Fit, gap: int) -> None:
    errors, days = model.basins["basin 0"], days_ahead(model, gap)
    still = replace(model.shape, network=network(model))
    expected = model.shape.flow_quantiles(errors, days.simulated, days.gap, days.last_errors[:, 0])
    np.testing.assert_allclose(still.quantiles_ahead(errors, days), expected, rtol=1e-5, atol=1e-7)


def test_days_without_a_known_flow_or_long_after_it_are_not_moved(model: Fit) -> None:
    errors, days = model.basins["basin 0"], days_ahead(model, 2)
    of_network = replace(model.shape, network=network(model, seed=1))
    moved = of_network.quantiles_ahead(errors, days) != model.shape.quantiles_ahead(errors, days)
    assert moved.any(axis=1).all()
    unknown = replace(days, last_errors=np.where(np.arange(PAST) == 0, np.nan, days.last_errors))
    for one in (unknown, replace(days, gap=np.full(len(days.gap), 31.0))):
        np.testing.assert_array_equal(of_network.quantiles_ahead(errors, one), model.shape.quantiles_ahead(errors, one))


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_rise_and_are_not_negative_whatever_the_weights(model: Fit, seed: int) -> None:
    of_network = BasinErrorModel(replace(model.shape, network=network(model, seed)), model.basins["basin 0"])
    quantiles = of_network.quantiles(days_ahead(model, 3))
    assert np.isfinite(quantiles).all()
    assert (quantiles >= 0).all()
    assert (np.diff(quantiles, axis=1) >= 0).all()


def test_gaps_in_the_errors_of_the_last_days_are_no_gaps_in_the_forecast(model: Fit) -> None:
    days = days_ahead(model, 1)
    alone = DaysAhead.after(days.simulated, days.gap, days.last_errors[:, 0])
    of_network = BasinErrorModel(replace(model.shape, network=network(model, seed=2)), model.basins["basin 0"])
    assert np.isfinite(of_network.quantiles(alone)).all()


def test_a_day_that_the_model_skips_is_no_gap_in_the_next(model: Fit) -> None:
    days = days_ahead(model, 2)
    skipped = replace(days, before=np.full_like(days.before, np.nan))
    of_network = BasinErrorModel(replace(model.shape, network=network(model, seed=2)), model.basins["basin 0"])
    assert np.isfinite(of_network.quantiles(skipped)).all()


def test_a_stored_network_comes_back_and_one_whose_matrices_do_not_fit_is_refused(model: Fit) -> None:
    days = days_ahead(model, 1)
    of_network = replace(model.shape, network=network(model, seed=3))
    again = Shape.from_arrays(of_network.arrays())
    expected = of_network.quantiles_ahead(model.basins["basin 0"], days)
    np.testing.assert_allclose(again.quantiles_ahead(model.basins["basin 0"], days), expected, rtol=1e-4, atol=1e-6)
    assert Shape.from_arrays(model.shape.arrays()).network is None
    with pytest.raises(ValueError, match="do not follow one another"):
        Shape.from_arrays(of_network.arrays() | {"network.second": np.zeros((HIDDEN, 2), np.float32)})
