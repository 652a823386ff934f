"""Reads the weather of basins from files with grids: of the newest run, or observed between two days."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from extensions.grid.basin_days import BasinDays, basin_days
from extensions.grid.cells import BasinWeights, basin_weights
from extensions.grid.datasets import GridDataset
from extensions.grid.days import Steps, consecutive
from extensions.grid.grib import GribFile
from extensions.grid.quantities import ELEVATION, NAMES
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from ingestion.base import Files, SourceError, unreadable
from ingestion.feeds.base import Site
from ingestion.netcdf import Instants
from runtime.child_processes import memory_in_use, memory_limited_to

_NETCDF, _ZARR, _GRIB = (".nc", ".nc4"), ".zarr", (".grib2", ".grb2", ".grib", ".grb")
SUFFIXES = (*_NETCDF, _ZARR, *_GRIB)
"""How the names of files end, and those of the folders of Zarr."""
MAX_FILES = 20_000
_MAX_MEMORY = 4 * 2**30  # bytes
_NOTHING = "The grids hold no weather that is known by its name, or none of the requested days."


@dataclass(frozen=True, slots=True)
class GridWeather:
    """The weather of basins on grids, and why others have none.

    `reference` is when the run began (None of observations); `source`, `model` and `issued` are as its file states
    them, and `notes` describe what is missing.
    """

    reference: np.datetime64 | None
    source: str
    model: str
    issued: str | None
    notes: Sequence[str]
    basins: Mapping[str, BasinDays]
    problems: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GridReader:
    """Reads grids, in a process that a damaged file may crash.

    Attributes:
        paths: files, Zarr stores, and folders with such at any depth.
        wanted: the days of observations; None for the newest run of a model.
        weights: the folder where weights are stored; None: they are not.
    """

    paths: Sequence[Path]
    sites: Sequence[Site]
    wanted: Period | None
    weights: Path | None
    files: Files

    def read(self) -> GridWeather:
        """Return the weather of all basins."""
        taken = memory_in_use()
        try:
            with memory_limited_to(None if taken is None else taken + _MAX_MEMORY):
                return self._read()
        except MemoryError:
            raise DataProblem(f"The grids take more than {_MAX_MEMORY} bytes: give fewer basins or steps.") from None

    def _read(self) -> GridWeather:
        paths, names = self._listed(), [site.basin for site in self.sites]
        issue: tuple[Any, str, str, str | None] = (None, "", "", None)
        wanted: Instants | None = None
        if self.wanted is None:
            issues = {path: self._issue(path) for path in paths}
            issue = max(issues.values(), key=lambda one: one[0])
            paths, since = [path for path, of in issues.items() if of[0] == issue[0]], issue[0]
        else:
            around = (self.wanted.first - np.timedelta64(1, "D"), self.wanted.last + np.timedelta64(2, "D"))
            wanted = np.array(around, dtype="datetime64[s]")  # whatever the time zone
            since = wanted[0]
        by_name, rates, problems = self._fields(paths, wanted)
        heights = [means for name in _of(by_name, ELEVATION) for means in by_name[name][""].values()]
        by_quantity: dict[str, Steps] = {}
        notes: list[str] = []
        for quantity in [quantity for quantity in NAMES if quantity != ELEVATION]:
            for name in _of(by_name, quantity)[:1]:
                means, is_rate = by_name.pop(name), name in rates
                by_quantity[quantity], missing = consecutive(quantity, means, names, since, is_rate=is_rate)
                notes += missing
        if not by_quantity:
            return GridWeather(*issue, notes, {}, dict.fromkeys(names, _NOTHING) | problems)
        days = basin_days(self.sites, by_quantity, (heights or [np.full(len(names), np.nan)])[0])
        known = {name: of for name, of in zip(names, days, strict=True) if name not in problems}
        return GridWeather(*issue, notes, known, problems)

    def _fields(
        self, paths: Sequence[Path], wanted: Instants | None
    ) -> tuple[dict[str, dict[str, dict[Any, Array]]], set[str], dict[str, str]]:
        """Return means of basins by name, member and span; the names of rates; and why basins have none."""
        by_name: dict[str, dict[str, dict[Any, Array]]] = defaultdict(lambda: defaultdict(dict))
        weights: dict[str, BasinWeights] = {}
        rates = set()
        for path in paths:
            with self._opened(path) as grid:
                if grid.axes.digest not in weights:
                    weights[grid.axes.digest] = basin_weights(grid.axes, self.sites, self.weights)
                for field in grid.fields(weights[grid.axes.digest], wanted):
                    if not np.isnan(field.values).all():  # a step or member without any value is missing
                        by_name[field.name][field.member][field.span] = field.values
                    if field.is_rate:
                        rates.add(field.name)
        return by_name, rates, {basin: why for of in weights.values() for basin, why in of.problems.items()}

    def _issue(self, path: Path) -> tuple[Any, str, str, str | None]:
        with self._opened(path) as grid:
            if grid.reference is None:
                remedy = "state it as its forecast_reference_time"
                raise SourceError(self.files.shown(path), "does not state when its run began", remedy)
            return grid.reference, grid.source, grid.model, grid.issued

    def _listed(self) -> list[Path]:
        try:
            paths = [one for path in map(self.files.locate, self.paths) for one in _within(path)]
        except OSError as error:
            raise unreadable(error.filename, error) from error
        if not 0 < len(paths) <= MAX_FILES:
            raise DataProblem(f"There are {len(paths)} files ({', '.join(SUFFIXES)}) to read: give 1 to {MAX_FILES}.")
        return paths

    @contextmanager
    def _opened(self, path: Path) -> Iterator[GridDataset | GribFile]:
        name = self.files.shown(path)
        if path.suffix in _GRIB:
            with self.files.open(path) as file:
                yield GribFile(name, file)
            return
        import xarray

        try:
            if path.suffix == _ZARR:
                self.files.on_file(name)
                with xarray.open_zarr(path, decode_times=False, chunks=None, consolidated=False) as dataset:
                    yield GridDataset(name, dataset)
            else:
                with (
                    self.files.open(path) as file,
                    xarray.open_dataset(f"/dev/fd/{file.fileno()}", engine="netcdf4", decode_times=False) as dataset,
                ):
                    yield GridDataset(name, dataset)
        except (OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            raise SourceError(name, f"cannot be read as {path.suffix[1:]}", "fetch it again") from error


def _of(by_name: Mapping[str, object], quantity: str) -> list[str]:
    """Return the names of a quantity that a grid has, the preferred one first."""
    return [name for name in NAMES[quantity].split() if name in by_name]


def _within(path: Path) -> Iterator[Path]:
    """Yield a file or store, or those in a folder at any depth, by name."""
    if path.suffix == _ZARR and any(one.is_symlink() for one in path.rglob("*")):
        raise SourceError(str(path), "has links in it", "copy what they lead to")
    if path.suffix == _ZARR or not path.is_dir():
        yield path
        return
    for one in sorted(path.iterdir()):
        if one.suffix in SUFFIXES or (one.is_dir() and not one.is_symlink()):
            yield from _within(one)
