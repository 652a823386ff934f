"""The peak ahead: one for each path, with its height and its day."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.outlook import Peak, peak_of
from hydrology.uncertainty.exceedance import FlowAhead


def _peak(paths: Array, before: float | None = None, weights: Array | None = None) -> Peak | Absent:
    flow = FlowAhead((0.5,), np.median(paths, axis=0)[None], paths, weights)
    return peak_of(flow, range(1, paths.shape[1] + 1), before)


def test_a_peak_whose_day_is_uncertain_is_higher_than_the_daily_quantiles() -> None:
    paths = np.ones((100, 3))
    paths[:50, 1], paths[50:, 2] = 10.0, 10.0
    peak = _peak(paths)
    assert isinstance(peak, Peak)
    assert (peak.low, peak.height, peak.high) == (10.0, 10.0, 10.0)
    assert np.quantile(paths, 0.5, axis=0).max() < 10.0
    assert (peak.first, peak.last) == (2, 3)


def test_no_peak_is_ahead_where_flow_falls_from_the_last_observation() -> None:
    recession = np.linspace(5.0, 1.0, 10)[None] * np.linspace(0.9, 1.1, 21)[:, None]
    for before in (None, 6.0):
        peak = _peak(recession, before)
        assert isinstance(peak, Absent)
        assert peak.code == "no_peak_ahead"
    risen = _peak(recession, before=4.0)
    assert isinstance(risen, Peak)
    assert (risen.first, risen.lead, risen.last) == (1, 1, 1)
    assert risen.height == pytest.approx(5.0)


def test_members_count_by_their_weights() -> None:
    paths = np.array([[1.0, 2.0], [1.0, 8.0], [1.0, 0.5]])
    weighted = _peak(paths, weights=np.array([0.8, 0.1, 0.1]))
    assert isinstance(weighted, Peak)
    assert weighted.height == pytest.approx(2.0)
    assert isinstance(_peak(paths, weights=np.array([0.1, 0.1, 0.8])), Absent)


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 12)), elements=st.floats(0, 1e4)))
def test_quantiles_are_in_order_and_among_the_paths(paths: np.ndarray) -> None:
    peak = _peak(paths, before=-1.0)
    assert isinstance(peak, Peak)
    assert peak.low <= peak.height <= peak.high
    assert 1 <= peak.first <= peak.lead <= peak.last <= paths.shape[1]
    assert peak.low >= paths.max(axis=1).min() * (1 - 1e-8)
    assert peak.high <= paths.max() * (1 + 1e-8)
