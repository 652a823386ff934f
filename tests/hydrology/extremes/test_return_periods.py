"""Frequent floods beside scipy's peaks and distributions, and the return periods of flows by the fits of levels."""

from pathlib import Path

import numpy as np
import pytest
from scipy import signal, stats

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, Period
from hydrology.extremes.annual import annual_maxima
from hydrology.extremes.bulletin_17c import fit_record
from hydrology.extremes.expected_moments import FloodRecord, RegionalSkew
from hydrology.extremes.levels import BY_DEFAULT, FloodFrequency, Statistic, of_record
from hydrology.extremes.return_periods import ReturnPeriod, ReturnPeriods
from ingestion.sources.camels import CamelsSource
from tests.hydrology.extremes.test_levels import RIVERS, by_value

CENTURY = Period.parse("1900-10-01..2000-09-30")
BULLETIN = FloodFrequency(RegionalSkew(0.0, 0.302))
BOTH = pytest.mark.parametrize("floods", [BY_DEFAULT, BULLETIN], ids=["gev", "bulletin-17c"])


def flashy(period: Period = CENTURY, floods_a_year: float = 6.0) -> Array:
    """Return a river at 1 with floods of one day, random in time, of exponential heights above 10."""
    generator, days = np.random.default_rng(4), len(period)
    flow = np.ones(days)
    at = np.flatnonzero(generator.random(days // 10) < floods_a_year / 36.525) * 10
    flow[at] = 10 + generator.exponential(5.0, len(at))
    return flow


def real_river(camels: Path, basin: str) -> tuple[Array, Days]:
    data = CamelsSource([camels / "basin_dataset_public_v1p2"]).read(f"USGS-{basin}")
    (series,) = (one.series for one in data.series if one.variable == "discharge")
    return series.values.astype(np.float64), series.days


def periods_of(flow: Array, days: Days, floods: FloodFrequency = BY_DEFAULT) -> tuple[list[Statistic], ReturnPeriods]:
    statistics = of_record(flow, days, intervals=False, floods=floods)
    found = ReturnPeriods.of(statistics, floods)
    assert isinstance(found, ReturnPeriods)
    return statistics, found


def scipys_levels(flow: Array, days: Days) -> list[float]:
    """Return the floods of half a year and a year: peaks a week apart whose prominence is a quarter of their height."""
    counted = annual_maxima(flow, days)
    known = np.where(np.isin(days, counted.days), flow, -1.0)
    lowest = np.quantile(known[known >= 0], 0.95)
    peaks, _ = signal.find_peaks(known, height=np.nextafter(lowest, np.inf), prominence=0.25 * np.abs(known))
    alone = np.zeros(len(known))
    alone[peaks] = known[peaks]
    heights = np.sort(alone[signal.find_peaks(alone, height=lowest, distance=7)[0]])[::-1]
    number = 3 * len(counted)
    threshold = heights[number] if len(heights) > number else lowest
    mean, scale = stats.lmoment(heights[:number] - threshold, order=[1, 2], standardize=False)
    shape, per_year = mean / scale - 2, len(heights[:number]) / len(counted)
    pareto = stats.genpareto(-shape, threshold, (1 + shape) * mean)
    return [pareto.isf(1 / (per_year * years)) if per_year * years > 1 else np.nan for years in (0.5, 1)]


@pytest.mark.parametrize("floods_a_year", [1.5, 2.5, 6.0])
def test_frequent_floods_are_those_of_scipys_peaks_and_pareto(floods_a_year: float) -> None:
    flow = flashy(floods_a_year=floods_a_year)
    found = np.array(by_value(of_record(flow, CENTURY.days, intervals=False)[0]), np.float64)
    assert found == pytest.approx(scipys_levels(flow, CENTURY.days), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("basin", RIVERS)
def test_those_of_real_rivers_differ_by_which_peaks_are_independent_alone(camels: Path, basin: str) -> None:
    flow, days = real_river(camels, basin)
    found = np.array(by_value(of_record(flow, days, intervals=False)[0]), np.float64)
    assert found == pytest.approx(scipys_levels(flow, days), rel=0.1, nan_ok=True)


def test_floods_are_as_frequent_as_their_levels_state() -> None:
    flow = flashy()
    frequent, *_ = of_record(flow, CENTURY.days)
    for named, a_year in zip(frequent.levels, (2, 1), strict=True):
        level = named.level
        assert level.low is not None
        assert level.value is not None
        assert level.high is not None
        assert level.low < level.value < level.high
        assert (flow > level.value).sum() / 100 == pytest.approx(a_year, rel=0.1)
        assert level.value == pytest.approx(10 + 5 * np.log(6 / a_year), rel=0.05)  # of the exponential heights


def test_a_river_with_a_flood_a_year_has_no_flood_of_half_a_year() -> None:
    frequent, *_ = of_record(flashy(floods_a_year=1.5), CENTURY.days)
    half, whole = (named.level for named in frequent.levels)
    assert half.value is None
    assert str(half.reason).startswith("The record has ")
    assert whole.value is not None


@BOTH
def test_a_flow_at_a_level_has_the_return_period_of_the_level(floods: FloodFrequency) -> None:
    statistics, periods = periods_of(flashy(), CENTURY.days, floods)
    levels = [named for statistic in statistics if "flood" in statistic.kind for named in statistic.levels]
    assert [named.return_period_years for named in levels] == [0.5, 1, 2, 5, 10, 25, 50]
    for named in levels:
        found = periods.of_flow(named.level.value or 0.0)
        assert found.years == pytest.approx(named.return_period_years)
        assert found.bound is None


def test_return_periods_between_levels_are_scipys(camels: Path) -> None:
    flow, days = real_river(camels, "12010000")
    _, periods = periods_of(flow, days)
    maxima = annual_maxima(flow, days).values
    annual = stats.genextreme(*_scipys_gev(maxima))
    for years in (2.5, 7.0, 33.0):
        assert periods.of_flow(float(annual.isf(1 / years))).years == pytest.approx(years, rel=1e-3)
    _, by_bulletin = periods_of(flow, days, BULLETIN)
    moments = fit_record(FloodRecord.complete(maxima), BULLETIN.regional).moments
    log_flood = stats.pearson3.isf(1 / 7, moments.skew, moments.mean, moments.sd)
    assert by_bulletin.of_flow(float(10**log_flood)).years == pytest.approx(7)


def _scipys_gev(maxima: Array) -> tuple[float, float, float]:
    """Return scipy's shape, location and scale with the L-moments of values, by a search."""
    from scipy.optimize import fsolve

    probability = (np.arange(200_000) + 0.5) / 200_000
    wanted = stats.lmoment(maxima, order=[1, 2, 3])

    def distance(parameters: Array) -> Array:
        shape, location, scale = parameters
        return np.asarray(
            stats.lmoment(stats.genextreme.ppf(probability, shape, location, scale), order=[1, 2, 3]) - wanted
        )

    shape, location, scale = fsolve(distance, [0.1, maxima.mean(), maxima.std()])
    return shape, location, scale


@BOTH
@pytest.mark.parametrize("floods_a_year", [0.4, 1.5, 6.0])
def test_a_higher_flow_never_has_a_shorter_return_period(floods: FloodFrequency, floods_a_year: float) -> None:
    _, periods = periods_of(flashy(floods_a_year=floods_a_year), CENTURY.days, floods)
    years = [periods.of_flow(flow).years for flow in np.linspace(0, 100, 500)]
    assert years == sorted(years)
    assert len({*years}) > 20


def test_a_return_period_is_bounded_by_the_record_and_by_its_frequent_floods() -> None:
    _, periods = periods_of(flashy(), CENTURY.days)
    assert periods.of_flow(1e6) == ReturnPeriod(200.0, "more")
    assert periods.of_flow(1e6).in_words == "more than 200 years"
    assert periods.of_flow(1.0) == ReturnPeriod(0.5, "less")
    assert periods.of_flow(1.0).in_words == "less than 0.5 years"
    _, without = periods_of(flashy(floods_a_year=0.4), CENTURY.days)
    assert without.frequent is None
    assert without.of_flow(1.0) == ReturnPeriod(2.0, "less")
    _, rarer = periods_of(flashy(floods_a_year=1.5), CENTURY.days)
    assert rarer.frequent is not None
    assert rarer.of_flow(rarer.frequent.threshold) == ReturnPeriod(1 / rarer.frequent.per_year, "less")
    assert ReturnPeriod(7.3519).in_words == "about 7.4 years"
    assert ReturnPeriod(1.0).in_words == "about 1 year"


def test_without_a_fit_there_is_none_and_the_reason_is_that_of_the_levels() -> None:
    period = Period.parse("2000-10-01..2009-09-30")
    statistics = of_record(flashy(period), period.days)
    found = ReturnPeriods.of(statistics, BY_DEFAULT)
    assert isinstance(found, Absent)
    assert str(found) == "Years with enough days: 9. A level needs 10."
