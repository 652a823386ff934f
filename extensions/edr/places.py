"""Selects gauges by place: a point, a polygon [well-known text, OGC 18-010r7] or a box, in longitude and latitude."""

import re
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from app.basins.queries import corners
from app.http.problems import InvalidRequest, refused
from hydrology.base.arrays import Array
from hydrology.base.outline import difference, unwrapped
from records.basins.basins import Site

MAX_POSITIONS, MAX_CHARACTERS = 1000, 32
"""Positions of a polygon, and the characters of one on average: nine digits behind each point fit."""
NEAR_KM = 10.0
"""A position is that of a gauge up to this far away."""
_EARTH_KM = 6371.0
_NUMBER = r"[-+]?[0-9]{1,3}(?:\.[0-9]{0,15})?"
_POSITION = re.compile(rf"\s*({_NUMBER})\s+({_NUMBER})\s*")
_FORM = {
    "POINT": ("POINT(-68.58 47.24)", re.compile(r"\s*POINT\s*\(([^()]*)\)\s*", re.IGNORECASE)),
    "POLYGON": (
        "POLYGON((-70 46,-67 46,-67 48,-70 46))",
        re.compile(r"\s*POLYGON\s*\(\s*\((.*)\)\s*\)\s*", re.IGNORECASE | re.DOTALL),
    ),
}


def point(text: str) -> tuple[float, float]:
    """Read a point: longitude and latitude."""
    ((position,),) = _positions("POINT", text)
    return position[0], position[1]


def polygon(text: str) -> list[Array]:
    """Read a polygon: its outer ring and its holes, each (positions, 2), closed."""
    rings = [np.array(ring) for ring in _positions("POLYGON", text)]
    if any(len(ring) < 4 or (ring[0] != ring[-1]).any() for ring in rings):
        raise refused("coords", "a ring of the polygon is not closed: repeat its first position as its last.")
    return rings


def nearest(sites: Mapping[str, Site], longitude: float, latitude: float) -> tuple[str, float] | None:
    """Return the gauge that is nearest to a position, and its distance in km. None without gauges."""
    if not sites:
        return None
    east, north = np.radians(_places(sites).T)
    here = np.radians(latitude)
    apart = np.radians(difference(np.degrees(east), longitude))
    chord = np.sin((north - here) / 2) ** 2 + np.cos(north) * np.cos(here) * np.sin(apart / 2) ** 2
    distances = 2 * _EARTH_KM * np.arcsin(np.sqrt(np.minimum(chord, 1)))
    at = int(distances.argmin())
    return list(sites)[at], float(distances[at])


def within(sites: Mapping[str, Site], rings: list[Array]) -> list[str]:
    """Return the gauges in a polygon: those that an odd number of its edges lies east of."""
    places = _places(sites)
    inside = np.zeros(len(places), np.bool_)
    for ring in rings:
        for (x0, y0), (x1, y1) in pairwise(ring):
            crosses = (y0 > places[:, 1]) != (y1 > places[:, 1])
            slope = (x1 - x0) / (y1 - y0) if y1 != y0 else 0.0
            inside ^= crosses & (places[:, 0] < x0 + (places[:, 1] - y0) * slope)
    return [basin for basin, is_inside in zip(sites, inside, strict=True) if is_inside]


def in_box(sites: Mapping[str, Site], text: str) -> list[str]:
    """Return the gauges in a box, its edges included; one whose west is above its east crosses the 180th meridian."""
    if text.count(",") == 5:
        raise refused("bbox", "nothing here has a height: give four numbers, without heights.")
    try:
        west, south, east, north = corners(text)
    except ValueError as error:
        raise refused("bbox", str(error)) from None
    places = _places(sites)
    width = (east - west) % 360 if west > east else east - west
    middle = west + width / 2
    far = np.abs(unwrapped(places[:, 0], middle) - middle) if len(places) else places[:, 0]
    inside = (far <= width / 2) & (south <= places[:, 1]) & (places[:, 1] <= north)
    return [basin for basin, is_inside in zip(sites, inside, strict=True) if is_inside]


def _places(sites: Mapping[str, Site]) -> Array:
    return np.array([(site.longitude, site.latitude) for site in sites.values()], np.float64).reshape(-1, 2)


def _positions(kind: str, text: str) -> list[list[tuple[float, float]]]:
    example, form = _FORM[kind]
    found = form.fullmatch(text)
    if found is None:
        raise _unreadable(text, example)
    rings = [ring.split(",") for ring in re.split(r"\)\s*,\s*\(", found[1])]
    if sum(map(len, rings)) > MAX_POSITIONS:
        raise refused("coords", f"the polygon has more than {MAX_POSITIONS} positions: simplify it.")
    return [[_position(position, text, example) for position in ring] for ring in rings]


def _position(position: str, text: str, example: str) -> tuple[float, float]:
    found = _POSITION.fullmatch(position)
    if found is None:
        raise _unreadable(text, example)
    longitude, latitude = float(found[1]), float(found[2])
    if abs(longitude) > 180 or abs(latitude) > 90:
        raise refused("coords", "longitudes are from -180 to 180 and latitudes from -90 to 90, longitude first.")
    return longitude, latitude


def _unreadable(text: str, example: str) -> InvalidRequest:
    return refused("coords", f"{text[:100]!r} cannot be used here: write {example}, longitude first, without heights.")
