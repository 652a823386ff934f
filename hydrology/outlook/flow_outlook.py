"""The outlook of one distribution of flow: its days, its peak and the chances of levels."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, to_mm_per_day
from hydrology.outlook.days_ahead import DaysAhead, days_ahead, shortened
from hydrology.outlook.levels import Level, LevelOutlook
from hydrology.outlook.peak import Peak, peak_of
from hydrology.uncertainty.exceedance import FlowAhead

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
        window: number of days ahead that chances cover.
    """

    past: int
    before: float | None
    normal: Array | Absent
    levels: Sequence[Level] | Absent
    area: Area | None
    window: int


def flow_outlook(flow: FlowAhead, around: Surroundings, judged: Mapping[str, float]) -> FlowOutlook:
    """Return the outlook of a run's flow, mm/day, NaN on days that an adjustment moves no flow to.

    `judged` are chances that a forecaster set, by level.
    """
    ahead = flow.after(around.past)
    leads = np.arange(around.past, flow.quantiles.shape[1]) + 1
    has_flow = np.asarray(np.isfinite(ahead.quantiles).all(axis=0))
    return FlowOutlook(
        days=days_ahead(ahead, leads.tolist()),
        peak=peak_of(ahead.known(), leads[has_flow].tolist(), around.before),
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
