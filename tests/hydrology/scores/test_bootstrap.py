"""NSE from yearly sums is that of the days themselves; an interval is as wide as the years or basins disagree."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import Period, water_year
from hydrology.base.errors import InvalidInput
from hydrology.scores.bootstrap import YearlyErrors, median_difference_interval, median_nse_interval, ratio_interval
from hydrology.scores.scores import nse

Array = npt.NDArray[np.float64]

PERIOD = Period.parse("2000-10-01..2004-09-30")
DAYS = PERIOD.days


def flows(seed: int) -> Array:
    return np.random.default_rng(seed).gamma(2.0, 1.0, len(DAYS))


def errors(*simulated: tuple[Array, Array]) -> YearlyErrors:
    return YearlyErrors.joined([YearlyErrors.of_basin(s, o, DAYS) for s, o in simulated])


def test_the_nse_of_all_years_is_that_of_the_days() -> None:
    observed = flows(0) + 1e4  # a large mean must not cancel the variance away
    simulated = observed + flows(1) - 2
    observed[100:400] = np.nan
    expected = nse(simulated, observed, days=DAYS).value
    assert YearlyErrors.of_basin(simulated, observed, DAYS).nse()[0, 0] == pytest.approx(expected, rel=1e-9)


def test_a_year_drawn_twice_counts_twice() -> None:
    observed, simulated = flows(0), flows(1)
    counts = np.array([[2, 0, 1, 1]])
    years = water_year(DAYS)
    index = np.concatenate([np.flatnonzero(years == year) for year in (2001, 2001, 2003, 2004)])
    expected = nse(simulated[index], observed[index]).value
    assert YearlyErrors.of_basin(simulated, observed, DAYS).nse(counts)[0, 0] == pytest.approx(expected)


def test_some_of_the_years_alone() -> None:
    observed, simulated = flows(0), flows(1)
    some = YearlyErrors.of_basin(simulated, observed, DAYS).over([2002, 2004])
    held = np.isin(water_year(DAYS), [2002, 2004])
    assert some.years.tolist() == [2002, 2004]
    assert some.nse()[0, 0] == pytest.approx(nse(simulated[held], observed[held]).value)


@pytest.mark.parametrize("observed", [np.full(len(DAYS), np.nan), np.full(len(DAYS), 0.3), np.zeros(len(DAYS))])
def test_a_basin_without_a_defined_nse_takes_no_part(observed: Array) -> None:
    both = errors((flows(1), flows(0)), (flows(1), observed))
    interval = median_nse_interval(both)
    assert interval is not None
    assert interval.basins == 1
    assert interval.median == pytest.approx(both.nse()[0, 0])
    assert median_nse_interval(errors((flows(1), observed))) is None


def test_equal_years_give_a_narrow_interval_and_one_decisive_year_a_wide_one() -> None:
    observed = flows(0)
    better = np.where(water_year(DAYS) == 2002, observed, observed + 1)  # right in one year of four alone
    shift = median_difference_interval(errors((observed, observed)), errors((observed + 1, observed)))
    lucky = median_difference_interval(errors((better, observed)), errors((observed + 0.9, observed)))
    assert shift is not None
    assert lucky is not None
    assert shift.low is not None
    assert shift.low > 0
    assert lucky.low is not None
    assert lucky.high is not None
    assert lucky.low < 0 < lucky.high
    assert (shift.basins, shift.years) == (1, 4)


def test_equal_models_differ_by_nothing() -> None:
    same = errors((flows(1), flows(0)), (flows(2), flows(0)))
    interval = median_difference_interval(same, same)
    assert interval is not None
    assert (interval.median, interval.low, interval.high, interval.sd) == (0, 0, 0, 0)


def test_drawing_basins_widens_what_the_years_agree_on() -> None:
    observed = flows(0)
    basins = errors(*((observed + shift, observed) for shift in np.linspace(0.1, 2, 40)))
    years = median_nse_interval(basins)
    drawn = median_nse_interval(basins, draw_years=False, draw_basins=True)
    assert years is not None
    assert drawn is not None
    assert years.median == drawn.median == pytest.approx(np.median(basins.nse()))
    assert drawn.sd is not None
    assert years.sd is not None
    assert drawn.sd > years.sd > 0
    assert drawn == median_nse_interval(basins, draw_years=False, draw_basins=True)  # the same every time


def test_other_years_or_basins_are_not_paired() -> None:
    one, two = errors((flows(1), flows(0))), errors((flows(1), flows(0)), (flows(2), flows(0)))
    for other in (two, one.over([2001, 2002])):
        with pytest.raises(InvalidInput, match="the same basins and water years"):
            median_difference_interval(one, other)
    with pytest.raises(InvalidInput, match="the same water years"):
        YearlyErrors.joined([one, one.over([2001])])
    with pytest.raises(InvalidInput, match="the same water years"):
        YearlyErrors.joined([])


def test_a_year_without_an_observation_is_not_drawn() -> None:
    observed = flows(0)
    observed[water_year(DAYS) == 2004] = np.nan
    all_years = errors((flows(1), observed))
    interval, alone = median_nse_interval(all_years), median_nse_interval(all_years.over([2001, 2002, 2003]))
    assert interval is not None
    assert alone is not None
    assert interval.years == alone.years == 3
    assert interval.median == alone.median
    yearly = [all_years.over([year]).nse()[0, 0] for year in (2001, 2002, 2003)]
    assert (interval.low, interval.high) == pytest.approx((min(yearly), max(yearly)))


def test_two_years_have_no_interval() -> None:
    few = errors((flows(1), flows(0))).over([2001, 2002])
    interval = median_nse_interval(few)
    assert interval is not None
    assert (interval.median, interval.years) == (few.nse()[0, 0], 2)
    assert (interval.low, interval.high, interval.sd) == (None, None, None)


def test_the_interval_of_a_ratio_narrows_as_its_years_agree() -> None:
    days = np.array([365.0, 366.0, 300.0, 365.0])
    assert ratio_interval(0.9 * days, days) == pytest.approx((0.9, 0.9))
    low, high = ratio_interval(np.array([0.8, 0.85, 0.95, 1.0]) * 100, np.full(4, 100.0)) or (0.0, 0.0)
    assert 0.8 <= low < 0.9 < high <= 1.0
    assert ratio_interval(np.ones(2), np.ones(2)) is None
