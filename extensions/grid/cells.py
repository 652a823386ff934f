"""The axes of a regular grid, and the weights of its cells in basins: the parts within the outlines, by area.

The part of a cell is that of its rectangle of longitude and latitude [exactextract, Apache-2.0]; the area of a whole
cell is that of its zone on the sphere. Weights are stored by grid and outline, and computed once for each.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
from scipy.sparse import csr_array

from hydrology.base.arrays import Array, Integers
from hydrology.base.digests import short_name
from hydrology.base.outline import unwrapped
from ingestion.base import SourceError
from ingestion.feeds.base import FeedProblem, Site

MAX_CELLS = 50_000_000
MIN_COVERED = 0.75
"""Least part of a basin whose cells have a value, for a mean over them: those of a sea may have none."""
_UNEVEN = 0.01  # of a step: single precision cannot write the centres of small cells better

Cells = tuple[Integers, Array]
"""Numbers of cells, row by row, and their weights, which sum to 1."""
_NOTHING: Cells = (np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Axes:
    """The centres of the cells of a regular grid, degrees, ascending or descending; longitudes go on beyond 180."""

    latitudes: Array
    longitudes: Array

    @classmethod
    def of(cls, file: str, latitudes: Array, longitudes: Array) -> Self:
        """Check the axes that a file states."""
        longitudes = np.unwrap(longitudes, period=360.0)
        for name, axis in (("latitudes", latitudes), ("longitudes", longitudes)):
            even = np.linspace(axis[0], axis[-1], len(axis)) if len(axis) > 1 and axis.ndim == 1 else np.array(np.nan)
            if not (np.abs(axis - even) < _UNEVEN * np.abs(even.flat[-1] - even.flat[0]) / len(axis)).all():
                remedy = "interpolate it to one, with two latitudes and longitudes at least"
                raise SourceError(file, f"is not on a regular grid of degrees (its {name})", remedy)
        grid = cls(latitudes, longitudes)
        if (
            (np.abs(latitudes) > 90).any()
            or grid.turn < len(longitudes) - 0.5
            or len(latitudes) * len(longitudes) > (MAX_CELLS)
        ):
            cause = f"has latitudes beyond 90, longitudes of more than a turn, or more than {MAX_CELLS} cells"
            raise SourceError(file, cause, "give a grid of the Earth, or a part of it")
        return grid

    @property
    def digest(self) -> str:
        """A name of the grid."""
        return short_name(self.latitudes.tobytes() + self.longitudes.tobytes())

    @property
    def turn(self) -> float:
        """The number of columns around the Earth."""
        return 360.0 / abs(self._step(self.longitudes))

    @staticmethod
    def _step(axis: Array) -> float:
        return float(axis[-1] - axis[0]) / (len(axis) - 1)

    def cells(self, site: Site) -> Cells:
        """Return a basin's cells; FeedProblem where it has no outline, or its outline goes beyond the grid."""
        if not site.outline:
            raise FeedProblem(f"{site.basin} has no outline: give it one (freshet basins add --outline).")
        rows, columns = len(self.latitudes), len(self.longitudes)
        rings = [self._in_cells(ring, site.outline[0][0][1]) for ring in site.outline]
        places = np.concatenate(rings)
        (west, north), (east, south) = np.floor(places.min(axis=0)).astype(int), np.ceil(places.max(axis=0)).astype(int)
        is_around = abs(self.turn - columns) < 0.5
        if north < 0 or south > rows or ((west < 0 or east > columns) and not is_around):
            raise FeedProblem(
                f"The outline of {site.basin} goes beyond the edge of the grid (latitudes {self.latitudes[0]:g} to "
                f"{self.latitudes[-1]:g}, longitudes {self.longitudes[0]:g} to {self.longitudes[-1]:g}), or lies "
                "outside of it: give a grid that covers the basin."
            )
        row, column, part = _parts(rings, (int(west), int(north), int(east), int(south)))
        half = self._step(self.latitudes) / 2
        edges = np.clip([self.latitudes[row] - half, self.latitudes[row] + half], -90, 90)
        weights = part * np.abs(np.diff(np.sin(np.radians(edges)), axis=0)[0])
        return row * columns + column % columns, weights / weights.sum()

    def _in_cells(self, ring: Sequence[Sequence[float]], reference: float) -> Array:
        """Return a ring of [latitude, longitude] in columns and rows from the grid's first edges."""
        latitude, longitude = np.array(ring, dtype=np.float64).T
        middle = (self.longitudes[0] + self.longitudes[-1]) / 2
        turns = 360.0 * np.round((middle - reference) / 360.0)
        east = unwrapped(longitude, reference) + turns - self.longitudes[0]
        north = latitude - self.latitudes[0]
        return np.column_stack([east / self._step(self.longitudes), north / self._step(self.latitudes)]) + 0.5


def _parts(rings: Sequence[Array], box: tuple[int, int, int, int]) -> tuple[Integers, Integers, Array]:
    """Return rows, columns and covered parts of the cells within rings, in a box of columns and rows."""
    from exactextract import exact_extract
    from exactextract.raster import NumPyRasterSource

    west, north, east, south = box
    # The first row of its rasters is the uppermost, so rows count downwards.
    polygons = [[(ring * (1.0, -1.0)).tolist()] for ring in rings]
    outline = {"type": "Feature", "properties": {}, "geometry": {"type": "MultiPolygon", "coordinates": polygons}}
    empty = np.zeros((south - north, east - west), np.uint8)
    raster = NumPyRasterSource(empty, xmin=west, xmax=east, ymin=-south, ymax=-north)
    (found,) = exact_extract(raster, [outline], ["cell_id", "coverage"])
    row, column = np.divmod(np.asarray(found["properties"]["cell_id"], np.int64), east - west)
    return row + north, column + west, np.asarray(found["properties"]["coverage"], np.float64)


@dataclass(frozen=True, slots=True)
class BasinWeights:
    """The weights of a grid's cells in basins, (basins, cells), of which `problems` has those without any, and why."""

    matrix: csr_array
    problems: Mapping[str, str]

    def sums(self, values: Array, cells: Integers | None = None) -> tuple[Array, Array]:
        """Return weighted sums of some cells' values (cells, any), and the covered parts of basins: (basins, any)."""
        matrix = self.matrix if cells is None else self.matrix[:, cells]
        known = ~np.isnan(values)
        if known.all():
            covered = matrix.sum(axis=1)[:, None]
            return matrix @ values, np.broadcast_to(covered, (len(covered), values.shape[1]))
        return matrix @ np.where(known, values, 0), matrix @ known.astype(np.float64)


def mean_of(sums: Array, covered: Array) -> Array:
    """Return means from weighted sums and covered parts: NaN where too little of a basin is covered."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(covered >= MIN_COVERED, sums / covered, np.nan))


def basin_weights(axes: Axes, sites: Sequence[Site], folder: Path | None) -> BasinWeights:
    """Return the weights of a grid's cells in basins; those computed before are read from a folder, if any."""
    path = None if folder is None else folder / f"{axes.digest}.npz"
    known, problems = {} if path is None else _read(path), dict[str, str]()
    found, fresh = [], dict[str, Cells]()
    for site in sites:
        name = short_name(repr(site.outline).encode())
        try:
            found.append(known.get(name) or fresh.setdefault(name, axes.cells(site)))
        except FeedProblem as problem:
            problems[site.basin] = str(problem)
            found.append(_NOTHING)
    if fresh and path is not None:
        with suppress(OSError):  # they can be computed again
            _write(path, known | fresh)
    cells, weights = (np.concatenate([of[axis] for of in (_NOTHING, *found)]) for axis in (0, 1))
    ends = np.cumsum([0, *(len(numbers) for numbers, _ in found)])
    shape = len(sites), len(axes.latitudes) * len(axes.longitudes)
    return BasinWeights(csr_array((weights, cells, ends), shape=shape), problems)


def _read(path: Path) -> dict[str, Cells]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            ends = np.cumsum(stored["lengths"])[:-1]
            parts = zip(np.split(stored["cells"], ends), np.split(stored["weights"], ends), strict=True)
            return dict(zip(stored["outlines"].tolist(), parts, strict=True))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # none yet, or damaged
        return {}


def _write(path: Path, found: Mapping[str, Cells]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(f".{os.getpid()}")
    cells, weights = zip(*found.values(), strict=True)
    with whole.open("wb") as file:
        lengths = [len(numbers) for numbers in cells]
        np.savez(file, outlines=[*found], lengths=lengths, cells=np.concatenate(cells), weights=np.concatenate(weights))
    whole.replace(path)
