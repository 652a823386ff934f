"""Levels of a basin with the chance that flow passes them, and which of them threaten."""

from collections.abc import Iterable
from dataclasses import dataclass

from hydrology.extremes.thresholds import Kind
from hydrology.uncertainty.exceedance import Direction

LIKELY, POSSIBLE = 0.5, 0.1
"""Chances from which on passing a level is likely, and possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A level that can have an alert, m3/s; `kind` is None where somebody set it.

    `official_stage` is in m, of an official flood category; None for others.
    """

    level: str
    kind: Kind | None
    return_period_years: int | None
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


def _is_flood(level: Level) -> bool:
    return level.direction == "rising"
