"""Floods by Bulletin 17C against its own examples and the program of the USGS; properties of the fit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hydrology.extremes.bulletin_17c import chance_of_as_low, fit_record, levels, smallest_used
from hydrology.extremes.expected_moments import FloodRecord, Moments, RegionalSkew, fit, limits
from tests.hydrology.scores.peaks_published import (
    BIG_SANDY_RIVER,
    CAINS_COULEE,
    MOOSE_RIVER,
    ORESTIMBA_CREEK,
    USGS_12363000,
)

CHANCES = np.array([0.5, 0.8, 0.9, 0.96, 0.98, 0.99])


def test_orestimba_creek_has_the_floods_of_bulletin_17c() -> None:
    """Example 2, table 10-9: 30 low outliers, twelve of them dry years, below 782 cfs; floods in four digits."""
    assert smallest_used(ORESTIMBA_CREEK) == (30, 782)
    found = [level.value for level in levels(ORESTIMBA_CREEK, CHANCES[:5].tolist())]
    assert found == pytest.approx([1339, 4026, 6328, 9426, 11690], abs=0.9)


def test_a_record_without_small_floods_has_the_moments_of_its_logarithms() -> None:
    """Example 1, the Moose River; and the moments are those of scipy."""
    assert smallest_used(MOOSE_RIVER)[0] == 0
    logs, fitted = np.log10(MOOSE_RIVER), fit_record(FloodRecord.complete(MOOSE_RIVER)).moments
    expected = [logs.mean(), logs.std(ddof=1), stats.skew(logs, bias=False)]
    assert [fitted.mean, fitted.sd, fitted.skew] == pytest.approx(expected, rel=1e-9)
    assert 10 ** fitted.quantile(CHANCES[2:5]) == pytest.approx([3261, 3911, 4422], rel=2e-4)


def test_historic_and_censored_floods_have_the_moments_of_peakfq() -> None:
    """PeakFQ 8.1.0 on the Big Sandy River, at the station: 44 peaks, 3 historic ones above 18 000 cfs, 37 years below.

    Moments as flowfreq records of the Fortran routine `emafitpr`.
    """
    systematic, historic, unseen = BIG_SANDY_RIVER[:-3], BIG_SANDY_RIVER[-3:], np.full(37, 18_000.0)
    record = FloodRecord(
        np.concatenate([systematic, historic, np.zeros(37)]),
        np.concatenate([systematic, historic, unseen]),
        np.repeat([0, 18_000.0], [44, 40]),
    )
    station = fit_record(record).station
    assert [station.mean, station.sd**2] == pytest.approx([3.715335627894617, 0.08323178876376598], rel=1e-5)
    assert station.skew == pytest.approx(0.006601394382027989, abs=2e-4)


def test_small_floods_that_the_test_leaves_out_have_the_moments_of_peakfq() -> None:
    """PeakFQ 8.1.0 on Cains Coulee: 11 of 32 peaks are low outliers, below 332 cfs."""
    assert smallest_used(CAINS_COULEE) == (11, 332)
    station = fit_record(FloodRecord.complete(CAINS_COULEE)).station
    published = [2.6367671197988694, 0.15301024816541287, -0.7078900133204128]
    assert [station.mean, station.sd**2, station.skew] == pytest.approx(published, abs=1e-8)


def test_confidence_limits_are_near_those_of_peakfq() -> None:
    """PeakFQ 8.1.0 on 98 peaks, skew weighted with -0.302 of error 0.3025: limits of the logarithms.

    It estimates the error of the station's skew otherwise (0.0768, here 0.0714), so that they differ a little.
    """
    fitted = fit_record(FloodRecord.complete(USGS_12363000), RegionalSkew(-0.302, 0.3025))
    assert fitted.weight == pytest.approx(0.3025 / (0.3025 + 0.0714384), rel=1e-5)
    exceeded = np.array([0.5, 0.1, 0.01])
    floods = [4.675099044091115, 4.8874359618077285, 5.079414006088445]
    assert fitted.moments.quantile(1 - exceeded) == pytest.approx(floods, abs=3e-3)
    low, high = limits(fitted, 1 - exceeded, 0.90)
    assert low == pytest.approx([4.647251940290881, 4.8512911457454715, 5.01652542472329], abs=2e-3)
    assert high == pytest.approx([4.703360517031113, 4.933678532645195, 5.181652237535777], abs=0.013)


@pytest.mark.parametrize("rank", [1, 3, 12])
def test_outliers_are_as_rare_among_normal_logarithms_as_the_test_assumes(rank: int) -> None:
    ordered = np.sort(np.random.default_rng(rank).normal(size=(40_000, 30)), axis=1)
    higher = ordered[:, rank:]
    distances = (ordered[:, rank - 1] - higher.mean(axis=1)) / higher.std(axis=1, ddof=1)
    for share in (0.005, 0.1, 0.5):
        found = chance_of_as_low(30, np.array([rank]), np.quantile(distances, [share]))
        assert found[0] == pytest.approx(share, rel=0.35 if share < 0.1 else 0.08)


@pytest.mark.extended
def test_limits_of_censored_records_enclose_the_truth_as_often_as_stated() -> None:
    """The lowest third of each record is censored; 90 % of the limits hold the flood of 10 and of 50 years."""
    generator, truth = np.random.default_rng(5), Moments(2.0, 0.25, 0.2)
    below, chances = 10 ** truth.quantile(np.array([0.33]))[0], np.array([0.9, 0.98])
    inside = np.zeros(2)
    for _ in range(40):
        floods = 10 ** stats.pearson3.rvs(0.2, 2.0, 0.25, size=40, random_state=generator)
        low, high = limits(fit(FloodRecord.complete(floods).censored_below(below)), chances, 0.90)
        inside += (low <= truth.quantile(chances)) & (truth.quantile(chances) <= high)
    assert inside / 40 == pytest.approx(0.9, abs=0.1)


@pytest.mark.extended
@settings(max_examples=20)
@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e5)), min_size=10, max_size=40),
    st.floats(0.01, 100),
    st.booleans(),
)
def test_floods_grow_with_the_return_period_and_scale_with_the_unit(
    floods: list[float], unit: float, weighted: bool
) -> None:
    regional = RegionalSkew(-0.1, 0.3) if weighted else None
    found = levels(floods, CHANCES.tolist(), regional)
    known = [level for level in found if level.value is not None]
    assert all(level.reason is not None for level in found if level.value is None)
    values = [level.value for level in known if level.value is not None]
    assert values == sorted(values)
    for level in known:
        if level.value is not None and level.low is not None and level.high is not None:
            assert math.isfinite(level.high)
            assert 0 <= level.low <= level.value * (1 + 1e-9) <= level.high * (1 + 1e-6)
    scaled = levels(np.array(floods) * unit, CHANCES.tolist(), regional)
    if min(floods) > 0:
        expected = [None if level.value is None else pytest.approx(level.value * unit, rel=1e-5) for level in found]
        assert [level.value for level in scaled] == expected
