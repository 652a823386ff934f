"""Map of the basins over relief, rivers and borders: those that lie close together are one point."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.outline import extent, normalised, unwrapped
from records.outlooks.overview import BasinOverview

Name = Literal["states", "countries", "rivers", "lakes"]
Places = Array
"""Latitudes and longitudes of places, (2, places), degrees."""
NAMES: tuple[Name, ...] = get_args(Name)
FOLDER = Path(__file__).parent / "outlines"
"""Outlines and lines of water, created by `python -m benchmarks.pages.outlines`."""
Polyline = list[tuple[float, float]]
WIDTH = 960
"""Width of the drawing, in its own units."""
FLATTEST = 0.7
STEEPEST = 0.78
"""Minimum and maximum ratio of height to width."""
MARGIN = 0.06
"""Margin on each side, as a share of the basins' extent."""
MIN_DEGREES = 3.0
"""Minimum extent of the map, degrees of latitude."""
MIN_ZOOMED = 0.2
"""Minimum extent of a part of the map, degrees of latitude."""

_TURNS = (-360, 0, 360)  # a map across the 180th meridian, or of the whole Earth, shows outlines from both sides


@dataclass(frozen=True, slots=True)
class Box:
    """Extent of the drawing, degrees."""

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def of_corners(cls, west: float, south: float, east: float, north: float) -> "Box":
        """Return a box from longitudes within 180 degrees; where it crosses the 180th, the western is the greater."""
        return cls(west, south, east if east >= west else east + 360, north)

    @classmethod
    def of_places(cls, places: Places) -> "Box":
        """Return the extent of places, at least one."""
        west, east = extent(places[1].tolist())
        return cls(west, float(places[0].min()), east, float(places[0].max()))

    @property
    def wide(self) -> float:
        return self.east - self.west

    @property
    def high(self) -> float:
        return self.north - self.south

    @property
    def middle(self) -> float:
        """The latitude of the middle."""
        return (self.south + self.north) / 2

    @property
    def text(self) -> str:
        """The box as a query parameter, its longitudes within 180 degrees."""
        west, east = normalised(self.west), normalised(self.east)
        return f"{west:.3f},{max(self.south, -90):.3f},{east:.3f},{min(self.north, 90):.3f}"

    def sized(self, wide: float, high: float) -> "Box":
        """Return a box of a size around the same middle."""
        x = (self.west + self.east) / 2
        return Box(x - wide / 2, self.middle - high / 2, x + wide / 2, self.middle + high / 2)

    def scaled(self, factor: float, smallest: float = 0.0) -> "Box":
        """Return the box grown by a factor: of at least some degrees, and narrower than the Earth."""
        return self.sized(min(max(self.wide * factor, smallest), 359.8), max(self.high * factor, smallest))

    def moved(self, east: float, north: float) -> "Box":
        """Return the box moved by shares of its own extent."""
        x, y = self.wide * east, self.high * north
        return Box(self.west + x, self.south + y, self.east + x, self.north + y)

    def holds(self, latitude: float | None, longitude: float | None) -> bool:
        if latitude is None or longitude is None:
            return False
        return self.south <= latitude <= self.north and (longitude - self.west) % 360 <= self.wide

    def touches(self, line: Polyline, turn: int) -> bool:
        """Return whether a polyline, shifted in longitude by `turn` degrees, may lie within."""
        longitudes, latitudes = zip(*line, strict=True)
        over = self.west - turn <= max(longitudes) and min(longitudes) <= self.east - turn
        return bool(over and self.south <= max(latitudes) and min(latitudes) <= self.north)


@dataclass(frozen=True, slots=True)
class Projection:
    """An equirectangular projection, true to scale at the middle latitude of its box [Snyder 1987, chapter 12]."""

    box: Box
    width: ClassVar[int] = WIDTH

    @property
    def _scale(self) -> float:
        return WIDTH / self.box.wide

    @property
    def _stretch(self) -> float:
        return 1 / math.cos(math.radians(self.box.middle))

    @property
    def height(self) -> int:
        return round(self.box.high * self._scale * self._stretch)

    def across(self, longitudes: Array) -> Array:
        """Return the distances from the left, the short way from the middle."""
        return self.right(unwrapped(longitudes, (self.box.west + self.box.east) / 2))

    def down(self, latitudes: Array) -> Array:
        return (self.box.north - latitudes) * self._scale * self._stretch

    def path(self, line: Polyline, turn: int) -> str:
        """Return a polyline, shifted in longitude by `turn` degrees, as SVG path data: steps in whole units."""
        longitudes, latitudes = np.array(line).T
        places = np.rint((self.right(longitudes + turn), self.down(latitudes))).astype(int).T
        steps = np.diff(places, axis=0)
        steps = steps[steps.any(axis=1)]
        return (
            f"M{places[0][0]} {places[0][1]}l" + " ".join(f"{x} {y}" for x, y in steps.tolist()) if len(steps) else ""
        )

    def right(self, longitude: Array) -> Array:
        return (longitude - self.box.west) * self._scale


def projection(places: Places) -> Projection:
    """Return the projection that shows some places, at least one."""
    return _framed(Box.of_places(places).scaled(1 + 2 * MARGIN), MIN_DEGREES, FLATTEST)


def _framed(box: Box, smallest: float, flattest: float) -> Projection:
    """Return the projection that shows a box, grown to a height in degrees and to the shape of a drawing."""
    stretch = 1 / math.cos(math.radians(min(abs(box.middle), 80)))
    wide = max(box.wide, max(box.high, smallest) * stretch / STEEPEST)
    return Projection(box.sized(wide, max(box.high, smallest, wide * flattest / stretch)))


CONTIGUOUS = Box(-125.0, 24.3, -66.5, 49.5)
"""States are drawn within, countries elsewhere."""


def borders(projected: Projection, places: Places) -> str:
    """Return the outlines around some places as SVG path data."""
    inside = not places.size or all(CONTIGUOUS.holds(*ends) for ends in (places.min(axis=1), places.max(axis=1)))
    return drawn_lines(projected, "states" if inside else "countries")


RELIEF, RELIEF_FILE = Box(-170.0, 15.0, -50.0, 60.0), "relief.webp"
"""The extent of the picture of relief, and its file."""


@lru_cache(maxsize=32)  # basins seldom move, so the map is mostly the same
def drawn_lines(projected: Projection, name: Name) -> str:
    lines = ((line, turn) for line in outlines(name) for turn in _TURNS if projected.box.touches(line, turn))
    return "".join(projected.path(line, turn) for line, turn in lines)


@cache
def outlines(name: Name) -> list[Polyline]:
    """Return outlines (of the contiguous United States and its states, or of all countries) as polylines of longitude
    and latitude, degrees."""
    lines: list[Polyline] = json.loads((FOLDER / f"{name}.json").read_text())
    return lines


NEAR, NEAR_OF_MANY, MANY_POINTS = 36, 54, 100
"""Distance within which basins share a point, in the drawing's units; the larger where there would be many points,
which overlap on a small screen."""
LEGEND, BUTTONS = (240, 165), (420, 55)
"""Width and height of what covers the lower left and the upper right corner of a wide map, in the drawing's units."""
MAX_LABELS = 12
"""Maximum number of points with the names of their basins."""
LABEL_GAP, LETTER, LINE = 14, 7.2, 18
"""Distance of a name from its point, width of a letter and height of a line, in the drawing's units."""
SMALL_SCREEN = 2.2
"""How many times larger letters and points are on a small screen, where the drawing is shown smaller."""
MIN_PART = 0.25
"""Minimum extent of the part of the map that a point opens, degrees."""


@dataclass(frozen=True)
class Point:
    """Basins at a place of the map, in the drawing's units; the first is the most urgent, and stands there.

    `counts` is the number of basins of each colour of the scale's legend.
    """

    x: float
    y: float
    first: BasinOverview
    places: Places
    counts: Sequence[int]

    @property
    def count(self) -> int:
        return len(self.places.T)

    @cached_property
    def shares(self) -> list[tuple[int, float, float]]:
        """The colours that occur, the most alarming first: place in the legend, share, and where it begins, %."""
        shares = [(at, 100 * count / self.count) for at, count in reversed([*enumerate(self.counts)]) if count]
        ends = [0.0, *accumulate(share for _, share in shares)]
        return [(at, round(share, 1), round(start, 1)) for (at, share), start in zip(shares, ends, strict=False)]

    @cached_property
    def box(self) -> str:
        """The part of the map with its basins, as a query parameter."""
        return Box.of_places(self.places).scaled(1 + 2 * MARGIN, MIN_PART).text


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a basin beside its point; `before` it where the name ends there.

    `scale` is how many times larger it is drawn; `is_roomy` where it has no room on a small screen.
    """

    text: str
    x: float
    y: float
    before: bool
    scale: float = 1
    is_roomy: bool = False

    @property
    def west(self) -> float:
        return self.x - self.width if self.before else self.x

    @property
    def width(self) -> float:
        return len(self.text) * LETTER * self.scale

    def covers(self, west: float, east: float, y: float) -> bool:
        """Return whether it meets something of a line's height around y."""
        return abs(y - self.y) < LINE * self.scale and west < self.west + self.width and self.west < east


@dataclass(frozen=True)
class Map:
    """The map; the most urgent points are drawn last, on top."""

    projected: Projection
    borders: str
    points: list[Point]

    @cached_property
    def labels(self) -> list[Label]:
        """The names of basins with a point of their own, the most urgent first; those without room are left out."""
        small = {(label.text, label.y) for label in self._labels(SMALL_SCREEN)}
        return [replace(label, is_roomy=(label.text, label.y) not in small) for label in self._labels(1)]

    def _labels(self, scale: float) -> list[Label]:
        single = [point for point in reversed(self.points) if point.count == 1]
        gap, placed = LABEL_GAP * max(1, scale / 1.5), list[Label]()
        for point in single[: 3 * MAX_LABELS]:
            name, start = point.first.title.partition(",")[0], point.x > self.projected.width / 2
            sides = [(before, point.x + (-gap if before else gap)) for before in (start, not start)]
            tried = (Label(name, x, point.y, before, scale) for before, x in sides)
            placed += [label for label in tried if self._has_room(label, placed)][:1]
        return placed[:MAX_LABELS]

    def _has_room(self, label: Label, placed: Sequence[Label]) -> bool:
        east, gap = self.projected.width - label.west - label.width, LABEL_GAP / 2
        down = self.projected.height - label.y
        inside = min(label.west, east, label.y - LINE / 2, down - LINE / 2) >= 0
        inside &= (label.west > LEGEND[0] or down > LEGEND[1]) and (east > BUTTONS[0] or label.y > BUTTONS[1])
        free = not any(label.covers(point.x - gap, point.x + gap, point.y) for point in self.points)
        return inside and free and not any(label.covers(one.west, one.west + one.width, one.y) for one in placed)

    @property
    def lines(self) -> dict[Name, str]:
        """Rivers and lakes as SVG path data."""
        return {name: drawn_lines(self.projected, name) for name in ("lakes", "rivers")}

    @property
    def relief(self) -> tuple[float, float, float, float]:
        """Place and size of the picture of relief."""
        left, right = self.projected.right(np.array((RELIEF.west, RELIEF.east))).round(1).tolist()
        top, bottom = self.projected.down(np.array((RELIEF.north, RELIEF.south))).round(1).tolist()
        return left, top, right - left, bottom - top

    @property
    def parts(self) -> dict[str, str]:
        """The parts of the map beside this one, in it and around it, as query parameters."""
        steps = {"west": (-0.4, 0.0), "north": (0.0, 0.4), "south": (0.0, -0.4), "east": (0.4, 0.0)}
        box = self.projected.box
        beside = {name: box.moved(*step).text for name, step in steps.items()}
        return beside | {"in": box.scaled(0.5).text, "out": box.scaled(2).text}


def drawn(basins: Sequence[BasinOverview], part: Box | None, colours: Array) -> Map | None:
    """Return the map of basins, most urgent first, by their places in the legend of colours; None where no place is
    known and no part of the map is asked for."""
    columns = [basin.latitude for basin in basins], [basin.longitude for basin in basins]
    places = np.array(columns, dtype=np.float64)
    known: Mask = np.asarray(np.isfinite(places).all(axis=0))
    places = places[:, known]
    if part is not None:
        projected = _framed(part, MIN_ZOOMED, STEEPEST)
    elif places.size:
        projected = projection(places)
    else:
        return None
    placed = [basin for basin, is_known in zip(basins, known.tolist(), strict=True) if is_known]
    return Map(projected, borders(projected, places), points(projected, placed, places, colours[known])[::-1])


def points(
    projected: Projection, basins: Sequence[BasinOverview], places: Places, colours: Array, reach: float = NEAR
) -> list[Point]:
    """Return the points of basins, the most urgent first: each basin joins the most urgent point that lies near."""
    xs, ys = projected.across(places[1]), projected.down(places[0])
    eastward = np.argsort(xs)
    sorted_xs, free, found = xs[eastward], np.ones(len(basins), dtype=bool), list[Point]()
    while free.any():
        first = int(free.argmax())
        x, y = xs[first], ys[first]
        west, east = np.searchsorted(sorted_xs, (x - reach, x + reach))
        strip = eastward[west:east]  # not all basins, again for each point
        joined = strip[free[strip] & ((xs[strip] - x) ** 2 + (ys[strip] - y) ** 2 < reach**2)]
        counts = np.bincount(colours[joined]).tolist()
        found.append(Point(round(float(x), 1), round(float(y), 1), basins[first], places[:, joined], counts))
        free[joined] = False
        if len(found) > MANY_POINTS and reach < NEAR_OF_MANY:
            return points(projected, basins, places, colours, NEAR_OF_MANY)
    return found
