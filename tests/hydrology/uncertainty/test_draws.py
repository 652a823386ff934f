"""Draws of the calibrated flow have the duration curve of a river, which a mean has not."""

import numpy as np
import pytest

from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.scores.scores import OF_CURVES, fhv, low_flow_bias
from hydrology.uncertainty.draws import DRAWS, draw, scores_of_draws
from hydrology.uncertainty.error_fit import Fit, fit
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.error_network import DaysAhead
from tests.hydrology.uncertainty.test_error_model import synthetic_pairs

PAIRS = synthetic_pairs(3)
DAYS = day("1990-10-01") + np.arange(len(PAIRS.simulated))


@pytest.fixture(scope="module")
def model() -> Fit:
    return fit({f"basin {seed}": synthetic_pairs(seed) for seed in range(6)})


def test_draws_have_the_observed_curve_where_the_simulation_has_not(model: Fit) -> None:
    simulated, observed = PAIRS.simulated, PAIRS.observed
    scores = scores_of_draws(model.of_basin("basin 3"), simulated, observed, DAYS)
    for score in (fhv, low_flow_bias):
        of_simulation, of_draws = score(simulated, observed).value, scores[score.__name__].value
        assert of_simulation is not None
        assert of_draws is not None
        assert abs(of_simulation) > 10
        assert abs(of_draws) < 5


def test_each_day_is_drawn_from_its_distribution(model: Fit) -> None:
    of_basin, simulated = model.of_basin("basin 3"), np.repeat([0.3, 5.0], 2000)
    drawn = draw(of_basin, simulated)
    assert drawn.shape == (DRAWS, 4000)
    unknown = np.full(4000, np.nan)
    quantiles = of_basin.quantiles(DaysAhead.after(simulated, unknown, unknown))
    for days in (slice(0, 2000), slice(2000, 4000)):
        for level in (0.05, 0.5, 0.95):
            expected = quantiles[days, LEVELS.index(level)][0]
            assert np.mean(drawn[:, days] <= expected) == pytest.approx(level, abs=0.005)


def test_a_score_that_a_draw_has_not_gives_its_reason(model: Fit) -> None:
    simulated = np.where(np.arange(len(DAYS)) < 10, np.nan, PAIRS.simulated)
    scores = scores_of_draws(model.of_basin("basin 3"), simulated, np.zeros(len(DAYS)), DAYS)
    assert list(scores) == [score.__name__ for score in OF_CURVES]
    reason = scores["fhv"].reason
    assert reason is not None
    assert reason.code == Reason.HIGH_FLOW_IS_0.name.lower()
    assert (scores["fhv"].value, scores["fhv"].n) == (None, len(DAYS) - 10)
