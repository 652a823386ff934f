"""A flow that is measured within a day moves the distributions of that day and of those after it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from hydrology.base.arrays import Array
from hydrology.uncertainty.exceedance import FlowAdjustment, FlowAhead
from hydrology.uncertainty.within_day import flow_at, moves

FLOWS = st.floats(0.5, 1.0)


def paths_of(correlation: float = 0.8, count: int = 4000) -> Array:
    """Return paths of four days whose cube roots are an autoregression around 1.5."""
    noise = np.random.default_rng(7).standard_normal((count, 4))
    roots = noise.copy()
    for day in range(1, 4):
        roots[:, day] = correlation * roots[:, day - 1] + np.sqrt(1 - correlation**2) * noise[:, day]
    return np.asarray((1.5 + 0.1 * roots) ** 3)


def moved(paths: Array, measured: float, *, at: int = 0, fraction: float = 0.5, before: float = 3.0) -> Array:
    return FlowAdjustment(moves=moves(paths, before, at, fraction, measured).tolist()).adjusted(paths)


@given(before=FLOWS, of_day=FLOWS, after=FLOWS)
def test_the_flow_within_a_day_has_the_mean_of_the_day_and_meets_its_neighbours(
    before: float, of_day: float, after: float
) -> None:
    days = [np.array(value) for value in (before, of_day, after)]
    mean, _ = quad(lambda fraction: float(flow_at(fraction, *days)), 0, 1)
    assert mean == pytest.approx(of_day)
    assert float(flow_at(1.0, *days)) == pytest.approx(float(flow_at(0.0, days[1], days[2], days[2])))


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("measured", [2.0, 3.4, 6.0])
def test_each_day_has_the_distribution_of_a_regression_on_the_measured_flow(fraction: float, measured: float) -> None:
    paths = paths_of()
    instant = np.cbrt(flow_at(fraction, np.full(len(paths), 3.0), paths[:, 0], paths[:, 1]))
    error = np.random.default_rng(8).standard_normal(len(paths))
    within = (fraction**3 + (1 - fraction) ** 3) / 3
    seen = instant + np.sqrt(within) * instant.std() * (error - error.mean()) / error.std()
    after = np.cbrt(moved(paths, measured, fraction=fraction))
    for day in range(3):
        roots = np.cbrt(paths[:, day])
        slope, intercept = np.polyfit(seen, roots, 1)
        left = roots - (slope * seen + intercept)
        assert after[:, day].mean() == pytest.approx(slope * np.cbrt(measured) + intercept, abs=0.01)
        assert after[:, day].std() == pytest.approx(left.std(), abs=0.004)


def test_a_higher_flow_is_a_higher_forecast_and_one_beyond_all_paths_counts() -> None:
    paths = paths_of()
    low, high, flood = (moved(paths, measured) for measured in (2.0, 4.0, 40.0))
    assert (low[:, :3] < high[:, :3]).all()
    assert np.median(flood[:, 0]) > paths[:, 0].max()
    assert np.median(flood[:, 3]) < np.median(flood[:, 0])
    assert (np.argsort(high[:, 0]) == np.argsort(paths[:, 0])).all()


def test_earlier_days_and_days_that_do_not_follow_it_stay() -> None:
    paths = paths_of()
    assert moved(paths, 6.0, at=2)[:, :2] == pytest.approx(paths[:, :2], rel=1e-12)
    unrelated = np.column_stack([paths, np.random.default_rng(9).permutation(paths[:, 0])])
    assert moved(unrelated, 6.0)[:, 4] == pytest.approx(unrelated[:, 4], rel=1e-12)


def test_a_river_that_is_dry_on_all_paths_stays_dry() -> None:
    assert (moved(np.zeros((100, 3)), 0.5, before=0.0) == 0).all()


def test_quantiles_and_paths_move_alike() -> None:
    paths, levels = paths_of(), (0.05, 0.5, 0.95)
    ahead = FlowAhead(levels, np.quantile(paths, levels, axis=0), paths)
    adjusted = FlowAdjustment(moves=moves(paths, 3.0, 0, 0.5, 5.0).tolist()).adjusted_ahead(ahead)
    assert adjusted.quantiles == pytest.approx(np.quantile(adjusted.paths, levels, axis=0), rel=1e-3)
