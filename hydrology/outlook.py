"""The outlook of a basin: flow now and on the days ahead, its peak, and the levels that it may pass."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from hydrology.alerts import Trend
from hydrology.base.absent import NOT_STORED, Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Day, Days
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, to_mm_per_day
from hydrology.extremes.levels import Kind
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.uncertainty.exceedance import Direction, FlowAhead
from hydrology.uncertainty.weighted import reached_by_shares, weighted_mean, weighted_quantiles

FlowBasis = Literal["calibrated", "members"]
"""Origin of a distribution: `calibrated` by the version's error model, or the `members` with every trace of weather."""
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Levels of the quantiles."""
MEDIAN = LEVELS.index(0.5)
DIGITS = 9
"""Significant digits: those that float32 needs."""
Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysAhead:
    """The distribution by lead (days after T0), mm/day; None on days that an adjustment moves no flow to.

    Quantiles have a row for each of `LEVELS`.
    """

    leads: tuple[int, ...]
    mean: Values
    quantiles: tuple[Values, ...]

    @property
    def median(self) -> Values:
        return self.quantiles[MEDIAN]


def days_ahead(flow: FlowAhead, leads: Sequence[int]) -> DaysAhead:
    """Return the distribution of flow (mm/day) by day."""
    rows = flow.quantiles[[flow.levels.index(level) for level in LEVELS]]
    mean = weighted_mean(flow.paths, flow.weights)
    return DaysAhead(leads=tuple(leads), mean=_values(mean), quantiles=tuple(_values(row) for row in rows))


def _values(row: Array) -> Values:
    return tuple(None if np.isnan(value) else shortened(value) for value in row.tolist())


def shortened(value: float) -> float:
    """Return a number as it is stored, with `DIGITS`."""
    return float(f"{value:.{DIGITS}g}")


PEAK_LEVELS = (0.05, 0.5, 0.95)
"""Levels of the quantiles: the ends of the 90 % range, and the median between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The peak over the paths of a distribution: its median, and the ends of its 90 % range.

    Heights are of the highest daily flow, mm/day; `lead`, `first` and `last` are days after T0. The return period is
    that of `height`.
    """

    height: float
    low: float
    high: float
    lead: int
    first: int
    last: int
    return_period: ReturnPeriod | Absent = NOT_STORED


def peak_of(flow: FlowAhead, leads: Sequence[int], before: float | None) -> Peak | Absent:
    """Return the peak of the days ahead, mm/day, or that flow more likely falls than rises.

    Each path has one peak, its highest day (the first of equal ones), so that height and day are those of the same
    event; the quantiles of daily flow would understate the height wherever its day is uncertain. Leads are days after
    T0. Without `before`, the flow of the last past day, the first day ahead stands for it.
    """
    if not flow.paths.size:
        return absent(Reason.NOT_FINITE)
    heights, started = flow.paths.max(axis=1), flow.paths[:, 0] if before is None else before
    if float(weighted_mean(heights > started, flow.weights)) < 0.5:
        return absent(Reason.NO_PEAK_AHEAD)
    low, height, high = map(shortened, weighted_quantiles(heights, PEAK_LEVELS, flow.weights).tolist())
    days = np.asarray(leads)[flow.paths.argmax(axis=1)]
    first, lead, last = map(int, reached_by_shares(days, PEAK_LEVELS, flow.weights))
    return Peak(height=height, low=low, high=high, lead=lead, first=first, last=last)


TREND_DAYS = 2
"""Number of days that the trend covers."""
STEADY_SHARE = 0.05
"""Largest change, relative to the flow before, that counts as steady."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNow:
    """The last observed flow.

    The change, in the unit of the record, is since `TREND_DAYS` before.
    """

    day: Day
    flow: float
    change: float | Absent

    @property
    def trend(self) -> Trend | Absent:
        if isinstance(self.change, Absent):
            return self.change
        if abs(self.change) <= STEADY_SHARE * (self.flow - self.change):
            return "steady"
        return "rising" if self.change > 0 else "falling"


def flow_now(days: Days, flow: Array) -> FlowNow | None:
    """Return the last observed flow of consecutive days; None where none is known."""
    known = np.flatnonzero(np.isfinite(flow))
    if not len(known):
        return None
    last = int(known[-1])
    before = flow[last - TREND_DAYS] if last >= TREND_DAYS else np.nan
    change = absent(Reason.NO_FLOW_BEFORE, days=TREND_DAYS) if np.isnan(before) else float(flow[last] - before)
    return FlowNow(day=days[last], flow=float(flow[last]), change=change)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A level that can have an alert, m3/s; `kind` is None where somebody set it.

    `official_stage` is in m, of an official flood category; None for others.
    """

    level: str
    kind: Kind | None
    return_period_years: float | None
    direction: Direction
    discharge: float
    official_stage: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOutlook(Level):
    """A level, and the chance of passing it within the window of alerts."""

    chance: float


def highest(levels: Iterable[LevelOutlook], least_chance: float) -> LevelOutlook | None:
    """Return the highest flood level with at least a chance; None without one."""
    reached = (one for one in levels if _is_flood(one) and one.chance >= least_chance)
    return max(reached, key=lambda one: one.discharge, default=None)


def likeliest(levels: Iterable[LevelOutlook]) -> LevelOutlook | None:
    """Return the flood level that is likeliest passed, the lowest of equal ones; None without any."""
    return max(filter(_is_flood, levels), key=lambda one: (one.chance, -one.discharge), default=None)


def highest_below(levels: Iterable[LevelOutlook], flow: float) -> LevelOutlook | None:
    """Return the highest flood level that a flow (m3/s) is above; None where it is above none."""
    below = (one for one in levels if _is_flood(one) and one.discharge < flow)
    return max(below, key=lambda one: one.discharge, default=None)


def lowest_above(levels: Iterable[LevelOutlook], flow: float) -> LevelOutlook | None:
    """Return the lowest flood level that a flow (m3/s) is not above; None without one."""
    above = (one for one in levels if _is_flood(one) and one.discharge >= flow)
    return min(above, key=lambda one: one.discharge, default=None)


def _is_flood(level: Level) -> bool:
    return level.direction == "rising"


MIN_NORMAL_MM = 1.0
"""Minimum normal of the days ahead for a meaningful percentage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowOutlook:
    """The outlook of a distribution, with every level of the basin that can have an alert.

    `percent_of_normal` is the sum of the days' medians in percent of that of their normals.
    """

    days: DaysAhead
    peak: Peak | Absent
    levels: tuple[LevelOutlook, ...] | Absent
    percent_of_normal: float | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the flow of a run is compared with.

    Attributes:
        past: number of the run's first days that had ended.
        before: flow of the last past day, mm/day, as last observed; None where it is not known.
        normal: of each of the run's days, mm/day, or why there is none.
        area: converts the levels; None without them.
        return_period: that of a flow, mm/day, or why it has none.
        window: number of days ahead that chances cover.
    """

    past: int
    before: float | None
    normal: Array | Absent
    levels: Sequence[Level] | Absent
    area: Area | None
    return_period: Callable[[float], ReturnPeriod | Absent]
    window: int


def flow_outlook(flow: FlowAhead, around: Surroundings, judged: Mapping[str, float]) -> FlowOutlook:
    """Return the outlook of a run's flow, mm/day, NaN on days that an adjustment moves no flow to.

    `judged` are chances that a forecaster set, by level.
    """
    ahead = flow.after(around.past)
    leads = np.arange(around.past, flow.quantiles.shape[1]) + 1
    has_flow = np.asarray(np.isfinite(ahead.quantiles).all(axis=0))
    peak = peak_of(ahead.known(), leads[has_flow].tolist(), around.before)
    return FlowOutlook(
        days=days_ahead(ahead, leads.tolist()),
        peak=replace(peak, return_period=around.return_period(peak.height)) if isinstance(peak, Peak) else peak,
        levels=_levels(ahead.within(around.window).known(), around, judged),
        percent_of_normal=_percent_of_normal(ahead.median[has_flow], around, has_flow),
    )


def _levels(flow: FlowAhead, around: Surroundings, judged: Mapping[str, float]) -> tuple[LevelOutlook, ...] | Absent:
    if isinstance(around.levels, Absent):
        return around.levels
    if not flow.paths.size:
        return absent(Reason.NOT_FINITE)
    return tuple(
        LevelOutlook(**asdict(level), chance=judged.get(level.level, _chance(flow, level, around.area)))
        for level in around.levels
    )


def _chance(flow: FlowAhead, level: Level, area: Area | None) -> float:
    assert area is not None
    depth = float(to_mm_per_day(level.discharge, unit="m3/s", area=area))
    return flow.chances(depth, level.direction)[1]


def _percent_of_normal(median: Array, around: Surroundings, has_flow: Mask) -> float | Absent:
    if isinstance(around.normal, Absent):
        return around.normal
    normal = float(around.normal[around.past :][has_flow].sum())
    if normal < MIN_NORMAL_MM:
        return absent(Reason.NORMAL_TOO_SMALL, mm=MIN_NORMAL_MM)
    return shortened(100 * float(median.sum()) / normal)
