"""The levels of a whole record: which there are, under which names, on which years they rest."""

import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, Period
from hydrology.extremes.annual import annual_maxima, annual_minima
from hydrology.extremes.bulletin_17c import fit_record
from hydrology.extremes.expected_moments import FloodRecord
from hydrology.extremes.frequency import Gev
from hydrology.extremes.levels import FloodFrequency, Statistic, names, of_record
from ingestion.sources.camels import CamelsSource

THIRTY_YEARS = Period.parse("1980-10-01..2010-09-30")
RIVERS = ("01022500", "01031500", "03439000", "06409000", "09081600", "10234500", "12010000", "13235000")


def river(period: Period = THIRTY_YEARS) -> Array:
    """Return a river with a flood a year and a long recession, no two years alike."""
    days = (period.days - period.first).astype(int)
    heights = np.random.default_rng(1).lognormal(0, 0.5, days[-1] // 365 + 1)
    flow: Array = 2 + 50 * heights[days // 365] * np.exp(-(days % 365) / 40)
    return flow


def by_name(found: list[Statistic]) -> dict[str, float | None]:
    return {named.name: named.level.value for statistic in found for named in statistic.levels}


def by_value(statistic: Statistic) -> list[float | None]:
    return [named.level.value for named in statistic.levels]


def test_every_level_has_a_name_of_its_own() -> None:
    found = of_record(river(), THIRTY_YEARS.days)
    assert list(by_name(found)) == names()
    assert names() == [
        *("pot-0.5", "pot-1"),
        *("gev-2", "gev-5", "gev-10", "gev-25", "gev-50"),
        *("lp3-2", "lp3-5", "lp3-10", "lp3-25", "lp3-50"),
        *("7q2", "7q10", "exceeded-70", "exceeded-90", "exceeded-95"),
    ]


def test_levels_are_ordered_by_their_exceedance_probability() -> None:
    level = by_name(of_record(river(), THIRTY_YEARS.days))
    ordered = ["7q10", "7q2", "exceeded-90", "exceeded-70", "gev-2", "gev-5", "gev-10", "gev-25", "gev-50"]
    found = [value for name in ordered if (value := level[name]) is not None]
    assert len(found) == len(ordered)
    assert found == sorted(found)


def test_a_statistic_lists_the_years_it_was_computed_from() -> None:
    flow = river()
    flow[3030:3070] = np.nan  # in January and February
    frequent, floods, _, low, duration = of_record(flow, THIRTY_YEARS.days)
    assert (frequent.years, frequent.period) == (floods.years, floods.period)
    assert (floods.years, floods.left_out_years, str(floods.period)) == (29, 1, str(THIRTY_YEARS))
    assert (low.years, low.left_out_years, str(low.period)) == (28, 3, "1981-04-01..2010-03-31")
    assert (duration.years, duration.period) == (floods.years, floods.period)
    assert floods.dry_years == low.dry_years == 0


def test_flow_is_exceeded_on_that_share_of_the_days_that_count() -> None:
    flow = river()
    flow[3030:3070] = np.nan
    counted = flow[np.isin(THIRTY_YEARS.days, annual_maxima(flow, THIRTY_YEARS.days).days)]
    level = by_name(of_record(flow, THIRTY_YEARS.days))
    for percent in (70, 90, 95):
        exceeded = level[f"exceeded-{percent}"]
        assert exceeded is not None
        assert np.mean(counted > exceeded) == pytest.approx(percent / 100, abs=1e-3)


def test_a_river_that_always_dries_up_has_low_flows_of_zero_and_floods() -> None:
    flow = river()
    flow[flow < 3] = 0
    _, floods, _, low, duration = of_record(flow, THIRTY_YEARS.days)
    assert (low.dry_years, floods.dry_years) == (30 - 1, 0)
    assert [named.level.value for named in low.levels] == [0, 0]
    assert all(named.level.value for named in floods.levels)
    assert duration.levels[-1].level.value == 0


def test_without_any_flow_there_is_no_flood_to_fit() -> None:
    found = of_record(np.zeros(len(THIRTY_YEARS)), THIRTY_YEARS.days)
    too_few = "The record has 0 independent floods in 30 years, which are too few a year for it."
    for statistic, why in zip(found[:3], [too_few, *["None of the 30 years has any flow."] * 2], strict=True):
        assert {str(named.level.reason) for named in statistic.levels} == {why}
    assert [value for name, value in by_name(found).items() if name not in names()[:12]] == [0] * 5


def test_a_constant_river_has_no_flood_to_fit_and_gives_the_reason() -> None:
    found = of_record(np.full(len(THIRTY_YEARS), 2.5), THIRTY_YEARS.days)
    level = by_name(found)
    assert level["gev-2"] is level["7q10"] is None
    assert level["exceeded-90"] == 2.5
    assert str(found[1].levels[0].level.reason) == "It is the same in every year with flow: there is nothing to fit."


def test_a_short_record_has_no_level_and_gives_the_reason() -> None:
    period = Period.parse("2000-10-01..2009-09-30")
    for statistic in of_record(river(period), period.days):
        years = 8 if statistic.kind == "low-flow" else 9
        for named in statistic.levels:
            assert (named.level.value, named.level.low, named.level.high) == (None, None, None)
            assert str(named.level.reason) == f"Years with enough days: {years}. A level needs 10."


def extremes(flow: Array, days: Days, first_month: int, width: int, extreme: Callable[[list[float]], float]) -> Array:
    """Return the extreme mean of a number of days of each year that has enough of them, day by day."""
    years: defaultdict[int, list[float]] = defaultdict(list)
    for day, value in zip(days.astype(object), flow.tolist(), strict=True):
        years[day.year - (day.month < first_month)].append(value)
    found = []
    for values in years.values():
        means = [sum(values[i : i + width]) / width for i in range(len(values) - width + 1)]
        if sum(map(math.isfinite, values)) >= 0.9 * 365:
            found.append(extreme([mean for mean in means if math.isfinite(mean)]))
    return np.array(found)


@pytest.mark.parametrize("basin", RIVERS)
def test_real_rivers_have_the_levels_of_scipy(camels: Path, basin: str) -> None:
    """Extremes day by day; the fits by scipy's L-moments, its skew and its distributions."""
    data = CamelsSource([camels / "basin_dataset_public_v1p2"]).read(f"USGS-{basin}")
    (series,) = (one.series for one in data.series if one.variable == "discharge")
    flow, days = series.values.astype(np.float64), series.days
    _, gev, log_pearson, low, _ = of_record(flow, days)
    maxima, minima = annual_maxima(flow, days).values, annual_minima(flow, days).values
    assert gev.years == len(maxima) >= 25
    assert maxima.tolist() == extremes(flow, days, 10, 1, max).tolist()
    assert minima == pytest.approx(extremes(flow, days, 4, 7, min))

    exceeded = 1 / np.array([2, 5, 10, 25, 50])
    by_l_moments = Gev.fit(maxima)
    scipys = stats.genextreme(by_l_moments.shape, by_l_moments.location, by_l_moments.scale)
    assert by_value(gev) == pytest.approx(scipys.isf(exceeded), rel=1e-3)
    steps = scipys.ppf((np.arange(10**6) + 0.5) / 10**6)  # their L-moments are those of the distribution, but for 2e-3
    assert stats.lmoment(steps, order=[1, 2, 3]) == pytest.approx(
        stats.lmoment(maxima, order=[1, 2, 3]), rel=2e-3, abs=2e-3
    )
    bulletin = fit_record(FloodRecord.complete(maxima)).moments
    assert by_value(log_pearson) == pytest.approx(10 ** bulletin.quantile(1 - exceeded))
    untested = log_pearson.low_outliers == 0
    for statistic, values, chance in [(log_pearson, maxima, 1 - exceeded)] * untested + [
        (low, minima, np.array([0.5, 0.1]))
    ]:
        logs = np.log10(values)
        expected = 10 ** stats.pearson3.ppf(chance, stats.skew(logs, bias=False), logs.mean(), logs.std(ddof=1))
        assert by_value(statistic) == pytest.approx(expected, rel=1e-3)


def test_floods_are_adjusted_where_asked_and_where_their_trend_is_significant() -> None:
    years = (THIRTY_YEARS.days - THIRTY_YEARS.first).astype(int) / 365.25
    drying, asked = river() * 0.96**years, FloodFrequency(trend_adjusted=True)
    plain, adjusted = of_record(drying, THIRTY_YEARS.days), of_record(drying, THIRTY_YEARS.days, floods=asked)
    for before, after in zip(plain[1:3], adjusted[1:3], strict=True):
        assert before.trend is not None
        assert after.trend is not None
        assert before.trend.p_value == after.trend.p_value < 0.05
        assert -6 < after.trend.percent_per_year < -3
        assert (before.trend.adjusted, after.trend.adjusted) == (False, True)
        assert all(a < b for a, b in zip(by_value(after), by_value(before), strict=True) if a and b)
    assert [plain[0], *plain[3:]] == [adjusted[0], *adjusted[3:]]
    steady = river()
    assert by_name(of_record(steady, THIRTY_YEARS.days, floods=asked)) == by_name(of_record(steady, THIRTY_YEARS.days))
