"""The value of acting on a chance against the library `scores` and the model's own limits."""

import numpy as np
import pytest
import xarray
from scores.plotdata import relative_economic_value

from extensions.decision_value.acting import CHANCES, COST_LOSS_RATIOS, ActingAtChance
from hydrology.verification.results import Reliability


def acting(chance: np.ndarray, passed: np.ndarray) -> ActingAtChance | None:
    tenths = Reliability.of(chance, passed)
    return ActingAtChance.of_tenths(tenths.forecast, tenths.observed, tenths.days)


def test_it_equals_that_of_the_library() -> None:
    random = np.random.default_rng(5)
    chance = random.beta(0.5, 2, 3000)
    passed = random.random(3000) < chance**1.3
    found = acting(chance, passed)
    assert found is not None
    expected = relative_economic_value(
        xarray.DataArray(chance, dims="time"),
        xarray.DataArray(passed.astype(float), dims="time"),
        cost_loss_ratios=list(COST_LOSS_RATIOS),
        probability_thresholds=list(CHANCES),
    )
    values = expected.transpose("probability_threshold", "cost_loss_ratio").values
    np.testing.assert_allclose(found.value(), values, atol=1e-12)


def test_perfect_forecasts_are_worth_1_and_the_base_rate_nothing() -> None:
    passed = np.arange(100) < 20
    perfect = acting(passed.astype(float), passed)
    assert perfect is not None
    assert perfect.value() == pytest.approx(np.ones((9, len(COST_LOSS_RATIOS))))
    climate = acting(np.full(100, 0.25), passed)
    assert climate is not None
    assert climate.value([0.1])[:, 0] == pytest.approx([0, 0] + [-1.25] * 7)


def test_there_is_no_value_without_an_event_or_with_nothing_else() -> None:
    assert acting(np.full(10, 0.3), np.zeros(10, dtype=bool)) is None
    assert acting(np.full(10, 0.3), np.ones(10, dtype=bool)) is None
