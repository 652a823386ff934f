"""The outlook of a distribution: days, chances and which levels threaten."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.base.units import Area
from hydrology.extremes.level_checks import LIKELY, POSSIBLE
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.outlook import (
    LEVELS,
    Level,
    LevelOutlook,
    Surroundings,
    flow_now,
    flow_outlook,
    highest,
    highest_below,
    likeliest,
)
from hydrology.uncertainty.exceedance import Direction, FlowAdjustment, FlowAhead

AREA = Area("a", 86_400_000.0)  # 1 mm/day is 1 m3/s
PATHS = np.linspace(1.0, 3.0, 101)[:, None] * np.array([9.0, 1.0, 3.0, 2.0])
FLOW = FlowAhead(LEVELS, np.quantile(PATHS, LEVELS, axis=0), PATHS)


def _level(name: str, discharge: float, direction: Direction = "rising") -> Level:
    return Level(level=name, kind=None, return_period_years=None, direction=direction, discharge=discharge)


LEVELS_OF_BASIN = [_level("ford", 3.0), _level("street", 7.0), _level("dam", 8.5)]
AROUND = Surroundings(
    past=1,
    before=1.0,
    normal=np.full(4, 2.0),
    levels=LEVELS_OF_BASIN,
    area=AREA,
    return_period=lambda flow: ReturnPeriod(flow / 2),
    window=2,
)


def test_past_days_count_for_nothing() -> None:
    outlook = flow_outlook(FLOW, AROUND, {})
    assert outlook.days.leads == (2, 3, 4)
    assert outlook.days.median == pytest.approx((2.0, 6.0, 4.0))
    assert outlook.days.mean == pytest.approx((2.0, 6.0, 4.0))
    assert not isinstance(outlook.peak, Absent)
    assert outlook.peak.height == pytest.approx(6.0)
    assert outlook.peak.lead == 3
    assert outlook.peak.return_period == ReturnPeriod(outlook.peak.height / 2)
    assert outlook.percent_of_normal == pytest.approx(200.0)


def test_chances_are_of_the_window_and_those_that_a_forecaster_set_stand() -> None:
    outlook = flow_outlook(FLOW, AROUND, {"dam": 0.4})
    assert not isinstance(outlook.levels, Absent)
    chances = {one.level: one.chance for one in outlook.levels}
    assert chances["ford"] == pytest.approx(0.99, abs=0.01)
    assert chances["street"] == pytest.approx(0.33, abs=0.02)
    assert chances["dam"] == 0.4


def test_an_adjustment_moves_the_peak_and_leaves_days_without_flow() -> None:
    outlook = flow_outlook(FlowAdjustment(2.0, 1).adjusted_ahead(FLOW), AROUND, {})
    assert outlook.days.median == pytest.approx((36.0, 4.0, 12.0))
    later = flow_outlook(FlowAdjustment(1.0, 2).adjusted_ahead(FLOW), AROUND, {})
    assert later.days.median[0] is None
    assert not isinstance(later.peak, Absent)
    assert later.peak.lead == 3
    assert later.percent_of_normal == pytest.approx(100 * 20 / 4)


def test_without_levels_or_a_normal_the_reason_stands() -> None:
    reason = absent(Reason.RUN_WITHOUT_AREA)
    outlook = flow_outlook(FLOW, replace(AROUND, levels=reason, area=None, normal=np.zeros(4)), {})
    assert outlook.levels == reason
    assert isinstance(outlook.percent_of_normal, Absent)


def test_the_highest_flood_level_of_a_chance_threatens() -> None:
    named = [*LEVELS_OF_BASIN, _level("dry", 9.0, "falling")]
    chances = (0.9, 0.6, 0.1, 1.0)
    levels = [LevelOutlook(**asdict(one), chance=chance) for one, chance in zip(named, chances, strict=True)]
    found = [highest(levels, LIKELY), highest(levels, POSSIBLE), likeliest(levels), highest_below(levels, 7.05)]
    assert [one and one.level for one in found] == ["street", "dam", "ford", "street"]
    assert (highest(levels, 0.95), highest_below(levels, 1.0)) == (None, None)


def test_flow_now_is_the_last_that_was_observed_with_its_trend() -> None:
    days = Period.parse("2008-09-01..2008-09-05").days
    now = flow_now(days, np.array([1.0, 2.0, 4.0, 2.05, np.nan]))
    assert now is not None
    assert (str(now.day), now.flow, now.trend) == ("2008-09-04", 2.05, "steady")
    assert now.change == pytest.approx(0.05)
    falling = flow_now(days, np.array([np.nan, np.nan, 4.0, 2.0, 1.0]))
    assert falling is not None
    assert falling.trend == "falling"
    unknown = flow_now(days, np.array([1.0, np.nan, 2.0, 3.0, np.nan]))
    assert unknown is not None
    assert isinstance(unknown.trend, Absent)
    assert flow_now(days, np.full(5, np.nan)) is None
