"""Errors of issued forecasts: they grow with the lead time, and the last observed flow narrows them."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_fit import Fit, fit, fit_errors
from hydrology.uncertainty.error_model import LEVELS, BasinErrors
from hydrology.uncertainty.errors_by_lead import PastForecasts
from tests.hydrology.uncertainty.test_error_model import synthetic_pairs

Array = npt.NDArray[np.float64]

T0S, LEADS = 400, 5
MEMORY, SIZE = 0.7, (0.05, 0.1, 0.15, 0.2, 0.25)
LOW, HIGH = LEVELS.index(0.05), LEVELS.index(0.95)


def past(seed: int, of_simulation: BasinErrors, t0s: int = T0S) -> PastForecasts:
    """Return forecasts whose errors (of cube roots) remember that of T0 and grow with the lead."""
    random = np.random.default_rng(seed)
    forecast = random.gamma(0.6, 3.0, (t0s, LEADS)) + 0.05
    last_error = random.normal(0.0, 0.2, t0s)
    error = last_error[:, None] * MEMORY ** np.arange(1, LEADS + 1) + random.normal(0.0, SIZE, (t0s, LEADS))
    roots = np.cbrt(forecast / of_simulation.mean_flow) + error
    return PastForecasts(of_simulation, forecast, np.maximum(roots, 0) ** 3 * of_simulation.mean_flow, last_error)


@pytest.fixture(scope="module")
def of_simulation() -> Fit:
    return fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(3)})


@pytest.fixture(scope="module")
def model(of_simulation: Fit) -> Fit:
    return fit_errors({name: past(at, errors) for at, (name, errors) in enumerate(of_simulation.basins.items())})


def test_memory_is_that_of_each_lead(model: Fit) -> None:
    for lead in (1, 2, 3):
        assert np.median(model.shape.memory[lead - 1]) == pytest.approx(MEMORY**lead, abs=0.08)
    assert not model.shape.memory[-1].any()


def test_intervals_have_their_nominal_coverage_for_forecasts_not_fitted(model: Fit, of_simulation: Fit) -> None:
    errors = model.basins["basin 0"]
    later = past(77, of_simulation.basins["basin 0"], 2000)
    widths = []
    for lead in (1, 3, 5):
        gap = np.full(2000, float(lead))
        quantiles = model.shape.flow_quantiles(errors, later.forecast[:, lead - 1], gap, later.last_error)
        observed = later.observed[:, lead - 1]
        inside = (quantiles[:, LOW] <= observed) & (observed <= quantiles[:, HIGH])
        assert inside.mean() == pytest.approx(0.9, abs=0.04)
        widths.append(float(np.median(quantiles[:, HIGH] - quantiles[:, LOW])))
    assert widths == sorted(widths)


def test_beyond_the_longest_lead_it_is_that_of_the_longest(model: Fit) -> None:
    np.testing.assert_array_equal(model.shape.spread[LEADS - 1], model.shape.spread[LEADS])


def test_days_without_observed_flow_do_not_count(of_simulation: Fit) -> None:
    whole = past(5, of_simulation.basins["basin 0"])
    gaps = np.where(np.arange(T0S)[:, None] % 4 == 0, np.nan, whole.observed)
    part = PastForecasts(whole.of_simulation, whole.forecast, gaps, whole.last_error)
    assert (whole.observed_days, part.observed_days) == (T0S, T0S * 3 // 4)
    assert sum(len(errors) for errors in part.before(2)[0]) == T0S * 3 // 4


def test_too_few_forecasts_are_refused(of_simulation: Fit) -> None:
    with pytest.raises(DataProblem, match="observed days over all basins"):
        fit_errors({"basin 0": past(1, of_simulation.basins["basin 0"], 10)})
