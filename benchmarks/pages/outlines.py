"""`python -m benchmarks.pages.outlines FOLDER`: make the outlines and the relief that the map draws, once.

FOLDER holds the npm packages `us-atlas` and `world-atlas` (their `states-10m.json` and `countries-110m.json`: borders
as TopoJSON, from the United States Census Bureau and Natural Earth, which are in the public domain), GeoJSON of Natural
Earth (`ne_50m_rivers_lake_centerlines.geojson`, `ne_50m_lakes.geojson`), and its shaded relief of the world as
`shadedrelief.jpg`. Each arc of a topology is a border between two areas or a coast, so that the arcs are all that is to
be drawn. What FOLDER lacks stays as it is.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from app.pages.render import FOLDER as STATIC
from app.pages.rivers_map import FOLDER, NAMES, RELIEF, RELIEF_FILE, Name

SOURCES: dict[Name, str] = {
    "states": "us-atlas/states-10m.json",
    "countries": "world-atlas/countries-110m.json",
    "rivers": "ne_50m_rivers_lake_centerlines.geojson",
    "lakes": "ne_50m_lakes.geojson",
}
NEAREST = {"states": 0.06, "countries": 0.3, "rivers": 0.12, "lakes": 0.08}
"""Degrees: a point that lies nearer to the one before is left out."""
CONTIGUOUS = (-125.0, 24.3, -66.5, 49.5)
"""West, south, east, north, degrees: states are drawn within."""


def polylines(source: dict[str, Any]) -> Iterator[np.ndarray]:
    """Yield each line of a topology or of GeoJSON as longitudes and latitudes, (points, 2), degrees.

    A topology stores them as differences of whole numbers [TopoJSON 1.0, sections 2.1.3 and 2.1.2].
    """
    if "arcs" in source:
        scale, move = (np.array(source["transform"][name]) for name in ("scale", "translate"))
        yield from (np.cumsum(arc, axis=0) * scale + move for arc in source["arcs"])
        return
    for feature in source["features"]:
        lines: list[Any] = [(feature["geometry"] or {}).get("coordinates", [])]
        while lines:
            line = lines.pop()
            if line and isinstance(line[0][0], (int, float)):
                yield np.array(line)[:, :2]
            else:
                lines += line


def thinned(line: np.ndarray, nearest: float) -> np.ndarray:
    """Return a polyline without points that lie close to the one before; its ends stay."""
    points = [line[0]]
    for point in line[1:-1]:
        if np.hypot(*(point - points[-1])) >= nearest:
            points.append(point)
    return np.array([*points, line[-1]])


def _drawn(name: Name, line: np.ndarray) -> bool:
    west, south, east, north = CONTIGUOUS
    inside = (line > (west, south)) & (line < (east, north))
    return name != "states" or bool(inside.all())


def main(folder: Path) -> None:
    """Write the outlines, and the part of the relief that is drawn."""
    for name in NAMES:
        if not (folder / SOURCES[name]).exists():
            continue
        lines = polylines(json.loads((folder / SOURCES[name]).read_text()))
        drawn = [thinned(line, NEAREST[name]).round(2).tolist() for line in lines if _drawn(name, line)]
        (FOLDER / f"{name}.json").write_text(json.dumps(drawn, separators=(",", ":")) + "\n")
    if (folder / "shadedrelief.jpg").exists():
        Image.MAX_IMAGE_PIXELS = None
        world = Image.open(folder / "shadedrelief.jpg")
        a_degree = world.width / 360
        edges = (RELIEF.west + 180, 90 - RELIEF.north, RELIEF.east + 180, 90 - RELIEF.south)
        part = world.crop(tuple(round(edge * a_degree) for edge in edges))  # type: ignore[arg-type]
        part.save(STATIC / RELIEF_FILE, quality=50, method=6)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
