"""Levels of annual values: with and without dry years, with their intervals, and where there is none."""

import numpy as np
import pytest
from scipy import stats

from hydrology.base.arrays import Array
from hydrology.extremes.frequency import Distribution, FloodQuantile, Gev, Gpd, LogPearson3, _levels, levels
from tests.hydrology.scores.peaks_published import MOOSE_RIVER, ORESTIMBA_CREEK

FLOODS = [0.5, 0.8, 0.9, 0.96, 0.98]
BOTH = pytest.mark.parametrize("distribution", [Gev, LogPearson3])


def values(found: list[FloodQuantile]) -> list[float | None]:
    return [level.value for level in found]


@BOTH
def test_a_level_lies_in_its_interval_which_widens_with_the_return_period(distribution: type[Distribution]) -> None:
    found = levels(MOOSE_RIVER, FLOODS, distribution)
    assert values(found) == pytest.approx(distribution.fit(MOOSE_RIVER).quantile(np.array(FLOODS)))
    widths = []
    for level in found:
        assert level.value is not None
        assert level.low is not None
        assert level.high is not None
        assert level.low < level.value < level.high
        assert level.reason is None
        widths.append((level.high - level.low) / level.value)
    assert widths == sorted(widths)


@BOTH
def test_the_same_values_have_the_same_levels_in_any_order_and_unit(distribution: type[Distribution]) -> None:
    found = levels(MOOSE_RIVER, FLOODS, distribution)
    assert levels(MOOSE_RIVER, FLOODS, distribution) == found
    ends = [[level.low, level.value, level.high] for level in found]
    other = levels(MOOSE_RIVER[::-1] * 0.0283, FLOODS, distribution)
    scaled = [[level.low, level.value, level.high] for level in other]
    assert np.array(scaled, float) / 0.0283 == pytest.approx(np.array(ends, float))


@BOTH
def test_dry_years_enter_the_probability_and_not_the_fit(distribution: type[Distribution]) -> None:
    """Twelve of 82 years are dry: a chance F of all years is (F - 12/82) / (70/82) of those with flow."""
    wet = ORESTIMBA_CREEK[ORESTIMBA_CREEK > 0]
    among_wet = (np.array(FLOODS) * 82 - 12) / 70
    found = levels(ORESTIMBA_CREEK, [0.1, *FLOODS], distribution)
    assert values(found) == pytest.approx([0, *distribution.fit(wet).quantile(among_wet)])
    assert (found[0].low, found[0].reason) == (0, None)


def test_without_a_test_for_low_outliers_the_levels_of_orestimba_creek_are_lower() -> None:
    """Bulletin 17C, table 10-9, censors 18 small floods beside the dry years; docs/look-up/thresholds.md explains the
    distance."""
    published = np.array([1339, 4026, 6328, 9426, 11690])
    found = np.array(values(levels(ORESTIMBA_CREEK, FLOODS, LogPearson3)), float)
    assert found / published == pytest.approx([0.963, 1.095, 1.037, 0.937, 0.865], abs=0.001)


def test_log_pearson_3_with_dry_years_is_that_of_scipy() -> None:
    logs = np.log10(ORESTIMBA_CREEK[ORESTIMBA_CREEK > 0])
    skew = stats.skew(logs, bias=False)
    expected = 10 ** stats.pearson3.ppf((np.array(FLOODS) * 82 - 12) / 70, skew, logs.mean(), logs.std(ddof=1))
    assert values(levels(ORESTIMBA_CREEK, FLOODS, LogPearson3)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("shape", [-0.4, -1e-4, 1e-4, 0.3])
def test_chances_and_quantiles_have_the_bits_of_scipy(shape: float) -> None:
    scale, skew, chances = np.array(2.5), np.array([10 * shape, 1e-7, 0.0]), np.array([0.01, 0.5, 0.99])
    for value in (-20.0, 0.0, 1e-3, 4.0, 9.0, 1e4):
        gev, gpd = Gev(np.array(1.5), scale, np.array(shape)), Gpd(scale, np.array(shape))
        assert gev.chance(value) == stats.genextreme.cdf(value, shape, 1.5, 2.5)
        assert gpd.chance(value) == stats.genpareto.cdf(value, -shape, scale=2.5)
    found = LogPearson3(np.full(3, 0.7), np.full(3, 0.2), skew).quantile(chances)
    expected = 10 ** np.asarray(stats.pearson3.ppf(chances, skew[:, None], 0.7, 0.2))
    assert found.tolist() == expected.tolist()


@pytest.mark.extended
@pytest.mark.parametrize(
    ("distribution", "parent"),
    [(Gev, Gev(*map(np.array, (100.0, 40.0, -0.1)))), (LogPearson3, LogPearson3(*map(np.array, (2.0, 0.25, 0.2))))],
)
def test_intervals_cover_the_truth_nearly_as_often_as_their_nominal_level(
    distribution: type[Distribution], parent: Distribution
) -> None:
    """Nominally 90 %; of a fit to few years a bootstrap covers it less often, and misses it above more than below."""
    generator = np.random.default_rng(5)
    truth = parent.quantile(np.array(FLOODS))
    below, above = np.zeros(len(FLOODS)), np.zeros(len(FLOODS))
    for _ in range(200):
        found = levels(parent.sample(generator, (30,)), FLOODS, distribution)
        below += truth < np.array([level.low for level in found], float)
        above += truth > np.array([level.high for level in found], float)
    assert (below + above) / 200 == pytest.approx(0.14, abs=0.06)
    assert above[-1] > below[-1]


@BOTH
@pytest.mark.parametrize(
    ("annual", "expected"),
    [
        (MOOSE_RIVER[:9], "Years with enough days: 9. A level needs 10."),
        (MOOSE_RIVER[:0], "Years with enough days: 0. A level needs 10."),
        (np.full(30, 2.5), "It is the same in every year with flow: there is nothing to fit."),
        (np.r_[np.zeros(10), MOOSE_RIVER[:9]], "9 of 19 years have any flow, and a level needs 10 that have."),
    ],
)
def test_a_missing_level_has_a_reason(distribution: type[Distribution], annual: Array, expected: str) -> None:
    (found,) = levels(annual, [0.9], distribution)
    assert found == FloodQuantile(None, None, None, found.reason)
    assert str(found.reason) == expected


@BOTH
def test_where_most_years_are_dry_the_level_is_zero(distribution: type[Distribution]) -> None:
    low, median, high = levels(np.r_[np.zeros(20), 1.0, 2.0], [0.1, 0.5, 0.95], distribution)
    assert (low.value, low.high, median.value, high.value) == (0, None, 0, None)
    assert str(low.reason).startswith("2 of 22 years have any flow: the level is 0")
    assert values(levels(np.zeros(12), [0.1], distribution)) == [0]


@BOTH
@pytest.mark.parametrize(("dry", "years"), [(7, 70), (3, 30), (5, 50)])
def test_a_tenth_of_dry_years_makes_the_low_flow_of_ten_years_zero(
    distribution: type[Distribution], dry: int, years: int
) -> None:
    wet = np.random.default_rng(4).uniform(3, 4, years - dry)
    low, next_to_it = levels(np.r_[np.zeros(dry), wet], [0.1, 0.101], distribution)
    assert low.value == 0
    assert next_to_it.value is not None
    assert next_to_it.value > 1


@BOTH
def test_no_level_is_below_zero(distribution: type[Distribution]) -> None:
    annual = np.r_[np.linspace(0.01, 0.02, 5), np.linspace(50, 60, 10)]
    for level in levels(annual, [0.01, 0.1, 0.5], distribution):
        assert level.value is not None
        assert level.low is not None
        assert min(level.value, level.low) >= 0


def test_the_bootstrap_of_unchanged_values_is_run_once() -> None:
    annual = np.random.default_rng(11).gamma(2.0, 50.0, 40)
    before = _levels.cache_info().misses
    first = levels(annual, [0.5, 0.9], Gev)
    assert levels(annual.copy(), [0.5, 0.9], Gev) == first
    assert _levels.cache_info().misses == before + 1
    changed = annual.copy()
    changed[7] *= 3
    assert levels(changed, [0.5, 0.9], Gev) != first
    assert _levels.cache_info().misses == before + 2
