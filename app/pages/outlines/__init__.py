"""Outlines of states and countries for the map, created by `python -m benchmarks.pages.outlines`."""

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
    """Return outlines (of the contiguous United States and its states, or of all countries) as polylines of longitude
    and latitude, degrees."""
    lines: list[Polyline] = json.loads((FOLDER / f"{name}.json").read_text())
    return lines
