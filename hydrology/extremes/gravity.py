"""The order of a river's levels for a reader: which of several alerts stands for all of them."""

from hydrology.extremes.alerting import Severity, rank
from hydrology.uncertainty.exceedance import Direction

LIKELY, POSSIBLE = 0.5, 0.1
"""Chances from which on passing a level is likely, and possible."""


def gravity(severity: Severity | None, chance: float, discharge: float, direction: Direction) -> tuple[float, ...]:
    """Return the sort key of a level: the highest is the one to show first.

    It is of the most severe alert; of equal ones the level furthest out that is likely to be passed, otherwise the one
    furthest out that is possible, otherwise the likeliest. A rare level with a small chance never stands for a river.
    """
    likelihood = (chance >= LIKELY) + (chance >= POSSIBLE)
    return rank(severity), likelihood, reach(discharge, direction) if likelihood else chance


def reach(discharge: float, direction: Direction) -> float:
    """Return a discharge so that a level further out has a higher one: low flows are furthest where they are lowest."""
    return discharge if direction == "rising" else -discharge
