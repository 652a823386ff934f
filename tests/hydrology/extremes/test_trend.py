"""The test for a trend and its slope, against scipy; annual values without it."""

import numpy as np
import pytest
from scipy import stats

from hydrology.base.arrays import Array
from hydrology.extremes.annual import sen_slope, trend_of, without_trend

YEARS = np.arange(1960, 2010)


def floods(percent: float) -> Array:
    noise = np.random.default_rng(8).lognormal(3, 0.3, len(YEARS))
    values: Array = np.round(noise * (1 + percent / 100) ** (YEARS - YEARS[0]), 1)
    return values


@pytest.mark.parametrize("percent", [-2.0, 0.0, 0.3, 2.0])
def test_slope_and_rank_correlation_are_those_of_scipy(percent: float) -> None:
    values = floods(percent)
    found = trend_of(values, YEARS)
    assert found is not None
    slope = stats.theilslopes(np.log10(values), YEARS).slope
    assert found.percent_per_year == pytest.approx(100 * (10**slope - 1))
    expected = stats.kendalltau(YEARS, values, method="asymptotic")
    assert found.tau == pytest.approx(expected.statistic, abs=2e-3)
    # scipy leaves out the correction for continuity
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.01)
    assert (found.p_value < 0.05) == (abs(percent) == 2)
    assert not found.adjusted


def test_values_without_trend_have_none_and_end_where_they_ended() -> None:
    values = floods(2.0)
    flat = without_trend(values, YEARS)
    assert sen_slope(flat, YEARS) == pytest.approx(0, abs=1e-12)
    assert flat[-1] == values[-1]
    after, before = trend_of(flat, YEARS, adjust=True), trend_of(values, YEARS, adjust=True)
    assert before is not None
    assert after is not None
    assert (before.adjusted, after.adjusted, before.last_year) == (True, False, 2009)


def test_dry_years_stay_dry_and_a_short_record_has_no_trend() -> None:
    values = np.where(YEARS % 7 == 0, 0, floods(2.0))
    assert ((without_trend(values, YEARS) == 0) == (values == 0)).all()
    assert trend_of(values[:2], YEARS[:2]) is None
    dry = trend_of(np.zeros(30), YEARS[:30])
    assert dry is not None
    assert (dry.tau, dry.p_value, dry.percent_per_year) == (0, 1, 0)
