"""The outlines of states and countries that the map draws: `python -m benchmarks.pages.outlines` makes them."""

import json
from functools import cache
from pathlib import Path
from typing import Literal, get_args

Name = Literal["states", "countries"]
NAMES: tuple[Name, ...] = get_args(Name)
FOLDER = Path(__file__).parent

Polyline = list[tuple[float, float]]


@cache
def outlines(name: Name) -> list[Polyline]:
    """Return polylines of longitudes and latitudes, degrees: of the contiguous United States with their states, or of
    the countries of the world."""
    lines: list[Polyline] = json.loads((FOLDER / f"{name}.json").read_text())
    return lines
