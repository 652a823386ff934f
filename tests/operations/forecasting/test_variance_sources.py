"""The sources of a forecast's spread, stored with the run where it asks for them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.uncertainty.weighted import SPREAD_SOURCES
from records.database.engine import Database
from records.runs import run_types, runs
from testing.country import BASINS
from tests.operations.forecasting.test_forecast import one_run

WEIGHTS, WEATHER, STATE = range(len(SPREAD_SOURCES))


def arrays(database: Database, **asked: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a new run of a basin, by variable."""
    run = one_run(database, **asked)
    with database.reading() as session:
        return {name: series.values for name, series in runs.series_of(session, run.id, BASINS[0]).items()}


def test_a_hindcast_has_nothing_of_the_weather(trained_store: Database) -> None:
    variance = arrays(trained_store, horizon=20, perturbed_states=6)[run_types.VARIANCE]
    assert variance.shape == (3, 20)
    assert (variance[[WEIGHTS, STATE]] > 0).all()
    assert not variance[WEATHER].any()


def test_the_states_part_fades(trained_store: Database) -> None:
    variance = arrays(trained_store, horizon=60, weather="climatology", perturbed_states=6)[run_types.VARIANCE]
    assert (variance > 0).all()
    state = variance[STATE] / variance.sum(axis=0)
    assert state[0] > state[-1]


@pytest.mark.parametrize("weather", ["observed", "climatology"])
def test_dividing_the_spread_changes_nothing_else(trained_store: Database, weather: str) -> None:
    plain, divided = (arrays(trained_store, horizon=10, weather=weather, perturbed_states=count) for count in (0, 3))
    assert set(divided) == {*plain, run_types.VARIANCE}
    for name, values in plain.items():
        assert np.array_equal(values, divided[name]), name


def test_divided_again_it_is_the_same(trained_store: Database) -> None:
    first, second = (arrays(trained_store, horizon=5, perturbed_states=3)[run_types.VARIANCE] for _ in range(2))
    assert np.array_equal(first, second)
