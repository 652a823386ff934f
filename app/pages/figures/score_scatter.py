"""Scatter plot of a score of two versions, a point for each basin."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.versions.comparison_schemas import Comparison

SIDE = 320
"""Side of the drawing, in its own units."""
LOWEST = 0.0
"""Lower scores are drawn at this value: differences between poor models mean little."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A basin: the first version's score to the right, the other's upwards."""

    basin: str
    first: float
    other: float

    @property
    def x(self) -> float:
        """Distance from the left, in units of the drawing."""
        return round(SIDE * max(self.first, LOWEST), 1)

    @property
    def y(self) -> float:
        """Distance from the top, in units of the drawing."""
        return round(SIDE * (1 - max(self.other, LOWEST)), 1)


@dataclass(frozen=True, slots=True)
class Paired:
    """A plot of two versions."""

    metric: str
    first: str
    other: str
    pairs: list[Pair]
    side: int = SIDE


def paired(comparison: Comparison, metric: str) -> Iterator[Paired]:
    """Yield a plot for each version but the first; the metric's optimum is 1."""
    columns = {column.version: column.values for column in comparison.by_basin if column.metric == metric}
    first, *others = (version.id for version in comparison.versions)
    for other in others:
        if first in columns and other in columns:
            values = zip(comparison.basins, columns[first], columns[other], strict=True)
            pairs = [Pair(basin, x, y) for basin, x, y in values if x is not None and y is not None]
            yield Paired(metric, first, other, pairs)
