"""The small hydrograph of a list: two weeks of observed flow, the days ahead with their range, and the next level."""

from collections.abc import Sequence
from datetime import date, timedelta
from math import isnan
from types import SimpleNamespace

import numpy as np

from app.forecasts.words import on
from hydrology.base.absent import Absent
from hydrology.base.unit_systems import UnitSystem, number
from hydrology.base.units import Units, mm_per_day_to_m3s
from hydrology.extremes.level_checks import level_title
from hydrology.outlook import LEVELS
from records.outlooks.reader import RECENT_DAYS, Outlook

WIDTH, HEIGHT, DAYS_AHEAD = 144, 40, 10
REACH = 2.5
"""Highest level drawn, relative to the highest flow."""
LOW, MEDIAN, HIGH = (LEVELS.index(level) for level in (0.05, 0.5, 0.95))
Points = Sequence[tuple[date, float]]


def small_hydrograph(outlook: Outlook, units: Units) -> SimpleNamespace | None:
    """Draw an outlook's discharge, m3/s, as lines and an area in SVG's coordinates, and describe it.

    `level` is the height of the next level's line. None where neither observed nor forecast flow is known.
    """
    first = outlook.at.date() - timedelta(days=RECENT_DAYS)
    observed = [(day, flow) for day, flow in outlook.recent.items() if day >= first]
    low, median, high = (_ahead(outlook, row) for row in (LOW, MEDIAN, HIGH))
    flows = [flow for _, flow in (*observed, *high, *median)]
    if not flows:
        return None
    next_level, top = outlook.next_level, max(*flows, 1e-9)
    is_drawn = next_level is not None and next_level.discharge <= REACH * top
    top = max(top, next_level.discharge) if next_level is not None and is_drawn else top

    def across(day: date) -> float:
        return round((day - first).days * WIDTH / (RECENT_DAYS + DAYS_AHEAD), 1)

    def up(flow: float) -> float:
        return round(HEIGHT - 1 - (HEIGHT - 3) * flow / top, 1)

    def line(points: Points) -> str:
        return " ".join(f"{across(day):g},{up(flow):g}" for day, flow in points)

    return SimpleNamespace(
        observed=line(observed),
        median=line([*observed[-1:], *median]),
        range=line([*low, *reversed(high)]),
        level=up(next_level.discharge) if next_level is not None and is_drawn else None,
        now=across(outlook.at.date()),
        described="; ".join(_described(outlook, observed, median, UnitSystem(units, outlook.area))),
    )


def _ahead(outlook: Outlook, row: int) -> Points:
    if outlook.area is None or isinstance(outlook.published, Absent):
        return ()
    days, end = outlook.published.days, outlook.at.date() + timedelta(days=DAYS_AHEAD)
    flows = mm_per_day_to_m3s(np.array(days.quantiles[row], dtype=np.float64), area=outlook.area).tolist()
    known = zip(map(outlook.day_of, days.leads), flows, strict=True)
    return [(day, flow) for day, flow in known if day < end and not isnan(flow)]


def _described(outlook: Outlook, observed: Points, median: Points, units: UnitSystem) -> Sequence[str]:
    parts = []
    for name, points in (("observed", observed), ("forecast", median)):
        if points:
            first, last = (units.value(flow, "m³/s") for flow in (points[0][1], points[-1][1]))
            parts.append(f"{name} {number(first)} to {number(last)} {units.name('m³/s')} until {on(points[-1][0])}")
    if (level := outlook.next_level) is not None:
        parts.append(f"next level {level_title(level.level)}, {units.amount(level.discharge, 'm³/s')}")
    return parts
