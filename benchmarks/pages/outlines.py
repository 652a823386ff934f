"""`python -m benchmarks.pages.outlines FOLDER`: make the outlines that the map draws, once.

FOLDER holds the npm packages `us-atlas` and `world-atlas` (their `states-10m.json` and `countries-110m.json`: borders
as TopoJSON, from the United States Census Bureau and Natural Earth, which are in the public domain). Each arc of a
topology is a border between two areas or a coast, so that the arcs are all that is to be drawn.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from app.pages.rivers_map import FOLDER, NAMES, Name

SOURCES: dict[Name, str] = {
    "states": "us-atlas/states-10m.json",
    "countries": "world-atlas/countries-110m.json",
}
NEAREST = {"states": 0.06, "countries": 0.3}
"""Degrees: a point that lies nearer to the one before is left out."""
CONTIGUOUS = (-125.0, 24.3, -66.5, 49.5)
"""West, south, east, north, degrees: states are drawn within."""


def polylines(topology: dict[str, Any]) -> list[np.ndarray]:
    """Return each arc of a topology as longitudes and latitudes, (points, 2), degrees.

    They are stored as differences of whole numbers [TopoJSON 1.0, sections 2.1.3 and 2.1.2].
    """
    scale, move = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    return [np.cumsum(arc, axis=0) * scale + move for arc in topology["arcs"]]


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
    """Write the outlines."""
    for name in NAMES:
        lines = polylines(json.loads((folder / SOURCES[name]).read_text()))
        drawn = [thinned(line, NEAREST[name]).round(2).tolist() for line in lines if _drawn(name, line)]
        (FOLDER / f"{name}.json").write_text(json.dumps(drawn, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
