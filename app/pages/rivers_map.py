"""Map of the basins over outlines of states or countries: those that lie close together are one point."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from app.pages.basins_today import BasinToday, Place
from hydrology.base.outline import extent, normalised, unwrapped

Name = Literal["states", "countries"]
NAMES: tuple[Name, ...] = get_args(Name)
FOLDER = Path(__file__).parent / "outlines"
"""Outlines of states and countries, created by `python -m benchmarks.pages.outlines`."""
Polyline = list[tuple[float, float]]
WIDTH = 960
"""Width of the drawing, in its own units."""
FLATTEST = 0.3
STEEPEST = 0.62
"""Minimum and maximum ratio of height to width."""
MARGIN = 0.06
"""Margin on each side, as a share of the basins' extent."""
MIN_DEGREES = 3.0
"""Minimum extent of the map, degrees of latitude."""
MIN_ZOOMED = 0.2
"""Minimum extent of a part of the map, degrees of latitude."""
CONTIGUOUS = (-125.0, 24.3, -66.5, 49.5)
"""West, south, east, north, degrees: states are drawn within, countries elsewhere."""

_TURNS = (-360, 0, 360)  # a map across the 180th meridian, or of the whole Earth, shows outlines from both sides


@dataclass(frozen=True, slots=True)
class Box:
    """Extent of the drawing, degrees."""

    west: float
    south: float
    east: float
    north: float

    @property
    def text(self) -> str:
        """The box as a query parameter, its longitudes within 180 degrees."""
        west, east = normalised(self.west), normalised(self.east)
        return f"{west:.3f},{max(self.south, -90):.3f},{east:.3f},{min(self.north, 90):.3f}"

    def scaled(self, factor: float) -> "Box":
        """Return the box around the same middle, wider and higher by a factor."""
        wide, high = (self.east - self.west) * factor / 2, (self.north - self.south) * factor / 2
        x, y = (self.west + self.east) / 2, (self.south + self.north) / 2
        return Box(x - min(wide, 179.9), y - high, x + min(wide, 179.9), y + high)

    def touches(self, line: Polyline, turn: int) -> bool:
        """Return whether a polyline, shifted in longitude by `turn` degrees, may lie within."""
        longitudes, latitudes = zip(*line, strict=True)
        reaches = max(longitudes) + turn >= self.west and max(latitudes) >= self.south
        begins = min(longitudes) + turn <= self.east and min(latitudes) <= self.north
        return bool(reaches and begins)


@dataclass(frozen=True, slots=True)
class Projection:
    """An equirectangular projection, true to scale at the middle latitude of its box [Snyder 1987, chapter 12]."""

    box: Box

    @property
    def _scale(self) -> float:
        return WIDTH / (self.box.east - self.box.west)

    @property
    def _stretch(self) -> float:
        return 1 / math.cos(math.radians((self.box.south + self.box.north) / 2))

    @property
    def width(self) -> int:
        return WIDTH

    @property
    def height(self) -> int:
        return round((self.box.north - self.box.south) * self._scale * self._stretch)

    def x(self, longitude: float) -> float:
        """Return the distance from the left, the short way from the middle."""
        middle = (self.box.west + self.box.east) / 2
        return round(self._right(float(unwrapped(longitude, middle))), 1)

    def y(self, latitude: float) -> float:
        """Return the distance from the top."""
        return round((self.box.north - latitude) * self._scale * self._stretch, 1)

    def path(self, line: Polyline, turn: int) -> str:
        """Return a polyline, shifted in longitude by `turn` degrees, as SVG path data."""
        return "M" + "L".join(f"{self._right(x + turn):.0f} {self.y(y):.0f}" for x, y in line)

    def _right(self, longitude: float) -> float:
        return (longitude - self.box.west) * self._scale


def projection(places: Sequence[Place]) -> Projection:
    """Return the projection that shows some places, at least one."""
    latitudes = [p.latitude for p in places]
    west, east = extent(p.longitude for p in places)
    middle = (min(latitudes) + max(latitudes)) / 2
    stretch = 1 / math.cos(math.radians(min(abs(middle), 80)))
    high = max((max(latitudes) - min(latitudes)) * (1 + 2 * MARGIN), MIN_DEGREES)
    wide = max((east - west) * (1 + 2 * MARGIN), high * stretch / STEEPEST)
    high = max(high, wide * FLATTEST / stretch)
    centre = (west + east) / 2
    return Projection(Box(centre - wide / 2, middle - high / 2, centre + wide / 2, middle + high / 2))


def zoomed(box: Box) -> Projection:
    """Return the projection that shows a part of the map, grown to the shape of a drawing."""
    middle, centre = (box.south + box.north) / 2, (box.west + box.east) / 2
    stretch = 1 / math.cos(math.radians(min(abs(middle), 80)))
    high = max(box.north - box.south, MIN_ZOOMED)
    wide = max(box.east - box.west, high * stretch / STEEPEST)
    high = max(high, wide * STEEPEST / stretch)
    return Projection(Box(centre - wide / 2, middle - high / 2, centre + wide / 2, middle + high / 2))


def borders(projected: Projection, places: Sequence[Place]) -> str:
    """Return the outlines around some places as SVG path data."""
    west, south, east, north = CONTIGUOUS
    in_states = all(west <= p.longitude <= east and south <= p.latitude <= north for p in places)
    return _drawn(projected, "states" if in_states else "countries")


@lru_cache(maxsize=8)  # basins seldom move, so the map is mostly the same
def _drawn(projected: Projection, name: Name) -> str:
    lines = ((line, turn) for line in outlines(name) for turn in _TURNS if projected.box.touches(line, turn))
    return "".join(projected.path(line, turn) for line, turn in lines)


@cache
def outlines(name: Name) -> list[Polyline]:
    """Return outlines (of the contiguous United States and its states, or of all countries) as polylines of longitude
    and latitude, degrees."""
    lines: list[Polyline] = json.loads((FOLDER / f"{name}.json").read_text())
    return lines


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


def drawn(basins: Sequence[BasinToday], part: Box | None) -> Map | None:
    """Return the map of basins, most urgent first; None where no place is known and no part of the map is asked for."""
    placed = [(basin.place, basin) for basin in basins if basin.place is not None]
    places = [place for place, _ in placed]
    if part is not None:
        projected = zoomed(part)
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
