"""Which of several alerts of a river stands for all of them."""

from typing import Any

from hydrology.alerts import Severity
from hydrology.extremes.level_checks import gravity


def first(*levels: tuple[Severity, float, float], direction: Any = "rising") -> float:
    """Return the discharge of the level that stands for the others, by severity, chance and discharge."""
    return max(levels, key=lambda one: gravity(one[0], one[1], one[2], direction))[2]


def test_the_most_severe_comes_first() -> None:
    assert first(("watch", 0.95, 100.0), ("warning", 0.72, 150.0), ("advisory", 0.3, 200.0)) == 150.0


def test_of_equal_ones_it_is_the_furthest_likely_then_the_furthest_possible_then_the_likeliest() -> None:
    assert first(("watch", 0.9, 100.0), ("watch", 0.5, 150.0), ("watch", 0.42, 200.0)) == 150.0
    assert first(("advisory", 0.3, 100.0), ("advisory", 0.1, 150.0), ("advisory", 0.05, 200.0)) == 150.0
    assert first(("advisory", 0.09, 100.0), ("advisory", 0.05, 200.0)) == 100.0


def test_low_flows_are_furthest_where_they_are_lowest() -> None:
    assert first(("watch", 0.9, 4.0), ("watch", 0.6, 3.0), ("watch", 0.41, 2.0), direction="falling") == 3.0
