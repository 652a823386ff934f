"""The peak ahead: one for each path, with its height and its day."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hydrology.uncertainty.peak import peak_ahead


def test_a_peak_whose_day_is_uncertain_is_higher_than_the_daily_quantiles() -> None:
    paths = np.ones((100, 3))
    paths[:50, 0], paths[50:, 2] = 10.0, 10.0
    peak = peak_ahead(paths)
    assert peak.heights == (10.0, 10.0, 10.0)
    assert np.quantile(paths, 0.5, axis=0).max() < 10.0
    assert (peak.leads[0], peak.leads[-1]) == (1, 3)


def test_a_steady_recession_has_its_peak_on_the_first_day() -> None:
    peak = peak_ahead(np.linspace(5.0, 1.0, 10)[None] * np.linspace(0.9, 1.1, 21)[:, None])
    assert peak.leads == (1, 1, 1)
    assert peak.heights[1] == pytest.approx(5.0)


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 12)), elements=st.floats(0, 1e4)))
def test_quantiles_are_in_order_and_among_the_paths(paths: np.ndarray) -> None:
    peak = peak_ahead(paths)
    assert list(peak.heights) == sorted(peak.heights)
    assert list(peak.leads) == sorted(peak.leads)
    assert paths.max(axis=1).min() <= peak.heights[0] <= peak.heights[-1] <= paths.max()
    assert 1 <= peak.leads[0] <= peak.leads[-1] <= paths.shape[1]
