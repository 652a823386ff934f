"""Points of the map: basins that lie close together in the drawing are one point, with their number."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.pages.rivers.basins_today import BasinToday
from app.pages.rivers.map import MARGIN, Box, Place, Projection, borders, projection, zoomed
from app.pages.rivers.selection import Selection
from hydrology.base.outline import extent

NEAR = 32
"""Distance within which basins share a point, in the drawing's units."""
MAX_LABELS = 12
"""Maximum number of points with the names of their basins."""
LABEL_GAP, LETTER, LINE = 14, 7.2, 18
"""Distance of a name from its point, width of a letter and height of a line, in the drawing's units."""
MIN_PART = 0.25
"""Minimum extent of the part of the map that a point opens, degrees."""


@dataclass(frozen=True, slots=True)
class Point:
    """Basins at a place of the map, in the drawing's units; the first is the most urgent, and stands there."""

    x: float
    y: float
    basins: list[BasinToday]

    @property
    def first(self) -> BasinToday:
        """The most urgent basin."""
        return self.basins[0]

    @property
    def box(self) -> str:
        """The part of the map with its basins, as a query parameter."""
        places = [basin.place for basin in self.basins if basin.place is not None]
        latitudes = [place.latitude for place in places]
        west, east = extent(place.longitude for place in places)
        wide, high = (max(MIN_PART, (1 + 2 * MARGIN) * span) for span in (east - west, max(latitudes) - min(latitudes)))
        x, y = (west + east) / 2, (min(latitudes) + max(latitudes)) / 2
        return Box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2).text


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a basin beside its point; `before` it where the name ends there."""

    text: str
    x: float
    y: float
    before: bool

    @classmethod
    def beside(cls, point: Point, *, before: bool) -> "Label":
        """Return the label of a point, on one of its sides."""
        name = point.first.title.partition(",")[0]
        return cls(name, point.x + (-LABEL_GAP if before else LABEL_GAP), point.y, before)

    @property
    def west(self) -> float:
        return self.x - self.width if self.before else self.x

    @property
    def width(self) -> float:
        return len(self.text) * LETTER

    def covers(self, west: float, east: float, y: float) -> bool:
        """Return whether it meets something of a line's height around y."""
        return abs(y - self.y) < LINE and west < self.west + self.width and self.west < east


@dataclass(frozen=True, slots=True)
class Map:
    """The map; the most urgent points are drawn last, on top."""

    projected: Projection
    borders: str
    points: list[Point]

    @property
    def labels(self) -> list[Label]:
        """The names of basins with a point of their own, the most urgent first; those without room are left out."""
        single = [point for point in reversed(self.points) if len(point.basins) == 1]
        placed: list[Label] = []
        for point in single if len(single) <= MAX_LABELS else ():
            start = point.x > self.projected.width / 2
            tried = (Label.beside(point, before=before) for before in (start, not start))
            placed += [label for label in tried if self._has_room(label, placed)][:1]
        return placed

    def _has_room(self, label: Label, placed: Sequence[Label]) -> bool:
        inside = label.west >= 0 and label.west + label.width <= self.projected.width
        free = not any(label.covers(point.x - LABEL_GAP / 2, point.x + LABEL_GAP / 2, point.y) for point in self.points)
        return inside and free and not any(label.covers(one.west, one.west + one.width, one.y) for one in placed)

    def part(self, factor: float) -> str:
        """Return the part of the map around the same middle, wider by a factor, as a query parameter."""
        return self.projected.box.scaled(factor).text


def drawn(basins: Sequence[BasinToday], selection: Selection) -> Map | None:
    """Return the map of basins, most urgent first; None where no place is known and no part of the map is asked for."""
    placed = [(basin.place, basin) for basin in basins if basin.place is not None]
    places = [place for place, _ in placed]
    if selection.box is not None:
        projected = zoomed(selection.box)
    elif places:
        projected = projection(places)
    else:
        return None
    return Map(projected, borders(projected, places), points(projected, placed)[::-1])


def points(projected: Projection, placed: Sequence[tuple[Place, BasinToday]]) -> list[Point]:
    """Return the points of basins, the most urgent first: each basin joins the first point that lies near."""
    found: list[Point] = []
    cells: dict[tuple[int, int], list[Point]] = {}
    for place, basin in placed:
        x, y = projected.x(place.longitude), projected.y(place.latitude)
        column, row = int(x // NEAR), int(y // NEAR)
        around = (cells.get((column + i, row + j), ()) for i in (-1, 0, 1) for j in (-1, 0, 1))
        near = next((p for cell in around for p in cell if (p.x - x) ** 2 + (p.y - y) ** 2 < NEAR**2), None)
        if near is not None:
            near.basins.append(basin)
            continue
        found.append(point := Point(x, y, [basin]))
        cells.setdefault((column, row), []).append(point)
    return found
