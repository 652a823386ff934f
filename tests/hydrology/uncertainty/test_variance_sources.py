"""The division of a spread by source: the parts add up, and each belongs to its source alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period
from hydrology.uncertainty.weighted import SPREAD_SOURCES, divided_variance, over_states
from hydrology.weather.forecast_errors import MONTH_OF_RAIN, rain_factors


@given(st.tuples(*[st.integers(1, 5)] * 4), st.integers(0, 1000))
def test_the_parts_add_up_to_the_variance_of_all(shape: tuple[int, ...], seed: int) -> None:
    discharge = np.random.default_rng(seed).gamma(1.0, size=shape)
    parts = divided_variance(over_states(discharge))
    assert (parts >= 0).all()
    whole = discharge.reshape(-1, shape[-1]).var(axis=0)
    np.testing.assert_allclose(parts.sum(axis=0), whole, rtol=1e-9, atol=1e-12)
    times = np.random.default_rng(seed).integers(1, 4, shape[0])
    repeated = divided_variance(over_states(np.repeat(discharge, times, axis=0)))
    weighted = divided_variance(over_states(discharge), times / times.sum())
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_variance_of_one_source_is_attributed_to_it_alone(axis: int) -> None:
    shape = [1, 1, 1, 1]
    shape[axis] = 3
    of_one = np.array([1.0, 2.0, 6.0]).reshape(shape)
    parts = divided_variance(over_states(np.broadcast_to(of_one, (3, 3, 3, 2))))
    assert parts[axis].tolist() == pytest.approx([np.var([1, 2, 6])] * 2)
    others = [number for number in range(len(SPREAD_SOURCES)) if number != axis]
    assert not parts[others].any()


def test_rain_of_a_month_is_off_by_one_factor_and_right_in_the_mean() -> None:
    period = Period.parse("2000-01-15..2001-03-10")
    factors = rain_factors(period, 4000, np.random.default_rng(0))
    january, february = factors[:, :17], factors[:, 17:46]
    assert (january == january[:, :1]).all()
    assert (february == february[:, :1]).all()
    assert abs(np.corrcoef(january[:, 0], february[:, 0])[0, 1]) < 0.05
    assert factors.mean() == pytest.approx(1, abs=0.01)
    assert np.log(factors).std() == pytest.approx(MONTH_OF_RAIN, rel=0.05)
