"""Fits of annual extremes against published computations and scipy's distributions."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from hydrology.base.arrays import Array
from hydrology.extremes.frequency import Distribution, Gev, LogPearson3, l_moments
from tests.hydrology.scores.peaks_published import MOOSE_RIVER, USGS_12363000

# fmt: off
LMOMENTS3 = np.array([2.0, 3.0, 4.0, 2.4, 5.5, 1.2, 5.4, 2.2, 7.1, 1.3, 1.5])
# fmt: on
CHANCES = np.array([0.01, 0.1, 0.5, 0.9, 0.96, 0.98, 0.999])


def of(*parameters: float) -> list[Array]:
    return [np.array(parameter) for parameter in parameters]


def test_gev_is_that_of_hoskings_routines() -> None:
    """Figures of the tests of lmoments3 (OpenHydrology), a port of Hosking's LMOMENTS: L-moments, fit, quantiles."""
    assert np.array(l_moments(LMOMENTS3)) == pytest.approx([3.23636364, 1.14181818, 0.27388535])
    fitted = Gev.fit(LMOMENTS3)
    assert [fitted.location, fitted.scale, fitted.shape] == pytest.approx([2.1792884, 1.3956404, -0.1555609], rel=1e-6)
    assert fitted.quantile(np.array([0.2, 0.5, 0.8])) == pytest.approx([1.539112, 2.705672, 4.537048], rel=1e-6)


def test_log_pearson_3_is_that_of_bulletin_17c() -> None:
    """Bulletin 17C, example 1: the station skew (figure 10-3) and its levels (table 10-5), given to four digits."""
    fitted = LogPearson3.fit(MOOSE_RIVER)
    moments = [3.32862315858514, 0.140287994140121, 0.396626124058735]
    assert [fitted.mean, fitted.sd, fitted.skew] == pytest.approx(moments, rel=1e-9)
    assert fitted.quantile(np.array([0.9, 0.96, 0.98])) == pytest.approx([3261, 3911, 4422], rel=2e-4)


def test_log_pearson_3_is_that_of_peakfq() -> None:
    """PeakFQ 8.1.0 (USGS) on 98 peaks: its station moments, and the levels that follow from its weighted skew.

    The figures are those that flowfreq records of the Fortran routine `emafitpr`.
    """
    fitted = LogPearson3.fit(USGS_12363000)
    station = [4.682551444111879, 0.024526664087056078**0.5, 0.43504703453300786]
    assert [fitted.mean, fitted.sd, fitted.skew] == pytest.approx(station, rel=1e-7)
    weighted = LogPearson3(*of(station[0], station[1], 0.2858631571499636))
    exceeded = np.array([2 / 3, 0.5, 0.2, 0.1, 0.04, 0.02, 0.01, 0.005, 0.002])
    # fmt: off
    logs = [
        4.60928752072944, 4.675099044091115, 4.8117158124363115, 4.8874359618077285, 4.97150339621051,
        5.02765609302641, 5.079414006088445, 5.127827974585475, 5.187847187005361,
    ]
    # fmt: on
    assert np.log10(weighted.quantile(1 - exceeded)) == pytest.approx(logs, abs=1e-7)


@pytest.mark.parametrize("shape", [-0.9, -0.3, -1e-3, 0.0, 1e-3, 0.2, 1.5])
def test_gev_has_the_quantiles_of_scipy(shape: float) -> None:
    fitted = Gev(*of(100.0, 30.0, shape if shape else 1e-4))
    expected = stats.genextreme.ppf(CHANCES, shape, 100.0, 30.0)
    assert fitted.quantile(CHANCES) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("skew", "factors"),
    [
        (0.0, [-2.32635, -1.28155, 0.0, 1.28155, 1.75069, 2.05375, 3.09023]),
        (1e-5, [-2.32635, -1.28155, 0.0, 1.28155, 1.75069, 2.05375, 3.09023]),
        (1.0, [-1.58838, -1.12762, -0.16397, 1.34039, 2.04269, 2.54206, 4.53112]),
        (2.0, -np.log(1 - CHANCES) - 1),
        (-2.0, np.log(CHANCES) + 1),
    ],
)
def test_log_pearson_3_has_the_published_frequency_factors(skew: float, factors: Any) -> None:
    """Bulletin 17B, appendix 3; at a skew of 2 the distribution is the exponential one, whose quantiles are exact."""
    quantiles = LogPearson3(*of(2.0, 0.3, skew)).quantile(CHANCES)
    assert (np.log10(quantiles) - 2.0) / 0.3 == pytest.approx(factors, abs=1e-5)


@pytest.mark.parametrize("sample", [[1, 2, 3, 4, 5, 6], [1, 2, 2, 2, 3, 5], [1, 4, 5, 5, 5, 5], [1, 2, 4, 4, 5, 5]])
def test_gev_has_the_l_moments_that_it_is_fitted_to(sample: list[float]) -> None:
    """Those of the sample by scipy, those of the fit by integrating its quantiles, in steps too wide for 1e-3."""
    chance = (np.arange(2_000_000) + 0.5) / 2_000_000
    quantile = Gev.fit(np.array(sample, dtype=np.float64)).quantile(chance)
    fitted = [(quantile * weight).mean() for weight in (1, 2 * chance - 1, 6 * chance**2 - 6 * chance + 1)]
    assert fitted == pytest.approx(stats.lmoment(sample, order=[1, 2, 3], standardize=False), rel=2e-3, abs=2e-3)


@pytest.mark.parametrize(
    ("distribution", "parent"),
    [(Gev, stats.genextreme(-0.1, 100, 30)), (LogPearson3, stats.lognorm(0.5, scale=80))],
)
def test_a_large_sample_recovers_its_parent_distribution(distribution: type[Distribution], parent: Any) -> None:
    sample = parent.rvs(size=400_000, random_state=1)
    fitted = distribution.fit(sample)
    assert fitted.quantile(CHANCES[1:-1]) == pytest.approx(parent.ppf(CHANCES[1:-1]), rel=0.01)
    drawn = fitted.sample(np.random.default_rng(2), (400_000,))
    assert np.quantile(drawn, CHANCES[1:-1]) == pytest.approx(parent.ppf(CHANCES[1:-1]), rel=0.01)


@pytest.mark.parametrize("distribution", [Gev, LogPearson3])
def test_many_samples_are_fitted_as_each_alone(distribution: type[Distribution]) -> None:
    samples = np.random.default_rng(3).lognormal(2, 1, (4, 25))
    together = distribution.fit(samples).quantile(CHANCES)
    assert together == pytest.approx(np.stack([distribution.fit(sample).quantile(CHANCES) for sample in samples]))


@pytest.mark.parametrize("distribution", [Gev, LogPearson3])
@pytest.mark.parametrize("values", [[3] * 11 + [7], [3] + [7] * 11, [3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5]])
def test_ties_are_fitted(distribution: type[Distribution], values: list[float]) -> None:
    quantiles = distribution.fit(np.array(values, dtype=np.float64)).quantile(CHANCES)
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles) >= 0).all()
