"""Runs of an invented weather model on a grid, as NetCDF, Zarr and GRIB2; and outlines of basins on it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import shapely
import xarray as xr

from hydrology.base.arrays import Array

Rings = list[list[list[float]]]
Outline = Sequence[Sequence[Sequence[float]]]
BEGAN = np.datetime64("2026-11-20T00:00:00", "s")
_HOUR = np.timedelta64(3_600, "s")
_GRIB = {
    # discipline, category, number; template and statistical process of its steps; and level
    "tp": (0, 1, 8, 1, None),
    "t2m": (0, 0, 0, None, 2),
    "d2m": (0, 0, 6, None, 2),
    "ssrd": (0, 4, 7, 1, None),
    "orog": (0, 3, 5, None, None),
}


def outline(latitude: float, longitude: float, size: float, seed: int = 0, corners: int = 30) -> Rings:
    """Return a star-shaped ring of [latitude, longitude] around a place, of about `size` degrees from the middle.

    Neighbours are so far apart that rounded ones do not cross, from 0.02 degrees on.
    """
    generator = np.random.default_rng(seed)
    angles = (np.arange(corners) + generator.uniform(0, 0.9, corners)) * 2 * np.pi / corners
    radii = size * generator.uniform(0.5, 1.0, corners)
    ring = np.round(np.column_stack([latitude + radii * np.sin(angles), longitude + radii * np.cos(angles)]), 4)
    return [[*ring.tolist(), ring[0].tolist()]]


@dataclass
class GridRun:
    """A run: precipitation and radiation accumulated since it began, temperature and dew point at each step.

    Attributes:
        hours: of each step, from the beginning.
        missing: steps of members to leave out of GRIB, and to leave empty elsewhere.
    """

    latitudes: Array
    longitudes: Array
    hours: Sequence[int] = tuple(range(0, 73, 3))
    members: int = 2
    seed: int = 0
    began: Any = BEGAN
    missing: Sequence[tuple[int, int]] = ()
    values: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        generator = np.random.default_rng(self.seed)
        shape = (self.members, len(self.hours), len(self.latitudes), len(self.longitudes))
        steps = np.diff(self.hours, prepend=self.hours[0])[:, None, None]
        self.values = {
            "tp": np.cumsum(generator.gamma(0.5, 0.4, shape) * steps, axis=1),
            "ssrd": np.cumsum(generator.uniform(0, 1e6, shape) * steps, axis=1),
            "t2m": 280 + generator.normal(0, 4, shape),
            "d2m": 270 + generator.normal(0, 2, shape),
        }
        self.orography = generator.uniform(0, 2_000, shape[2:])

    def dataset(self, **changes: Any) -> xr.Dataset:
        """Return it by CF; `changes` replace variables."""
        axes = ("number", "step", "latitude", "longitude")
        attributes = {
            "tp": {"units": "kg m-2", "standard_name": "precipitation_amount"},
            "ssrd": {"units": "J m-2"},
            "t2m": {"units": "K", "standard_name": "air_temperature"},
            "d2m": {"units": "K", "standard_name": "dew_point_temperature"},
        }
        held = {
            name: (axes, self._with_holes(values).astype("f4"), attributes[name])
            for name, values in self.values.items()
        }
        return xr.Dataset(
            held | {"orog": (axes[2:], self.orography, {"units": "m", "standard_name": "surface_altitude"})} | changes,
            coords={
                "number": ("number", np.arange(self.members), {"standard_name": "realization"}),
                "step": ("step", np.array(self.hours), {"standard_name": "forecast_period", "units": "hours"}),
                "time": ((), self.began.astype("M8[h]").astype(int), {
                    "standard_name": "forecast_reference_time", "units": "hours since 1970-01-01"}),
                "latitude": ("latitude", self.latitudes, {"units": "degrees_north"}),
                "longitude": ("longitude", self.longitudes, {"units": "degrees_east"}),
            },
            attrs={"institution": "River Office", "source": "guess-1"},
        )  # fmt: skip

    def netcdf(self, path: Path, **changes: Any) -> Path:
        """Write it as NetCDF."""
        self.dataset(**changes).to_netcdf(path)
        return path

    def zarr(self, path: Path, chunks: tuple[int, ...] | None = None, **changes: Any) -> Path:
        """Write it as a store of Zarr, of some chunks (members, steps, rows, columns)."""
        encoding = {} if chunks is None else {name: {"chunks": chunks} for name in self.values}
        self.dataset(**changes).to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)
        return path

    def grib(self, path: Path, bits: int = 24) -> Path:
        """Write it as GRIB2, a message for each field."""
        import eccodes

        with path.open("wb") as file:
            for name, values in self.values.items():
                for member in range(self.members):
                    for at in range(len(self.hours)):
                        if (member, at) not in self.missing:
                            eccodes.codes_write(self._message(name, member, at, values[member, at], bits), file)
            eccodes.codes_write(self._message("orog", 0, 0, self.orography, bits), file)
        return path

    def _with_holes(self, values: Array) -> Array:
        held = values.copy()
        for member, at in self.missing:
            held[member, at] = np.nan
        return held

    def _message(self, name: str, member: int, at: int, values: Array, bits: int) -> Any:
        import eccodes

        *numbers, process, height = _GRIB[name]
        began: datetime = self.began.item()
        keys: dict[str, Any] = {
            "centre": "kwbc",
            "dataDate": int(f"{began:%Y%m%d}"),
            "dataTime": began.hour * 100,
            "Ni": len(self.longitudes),
            "Nj": len(self.latitudes),
            "latitudeOfFirstGridPointInDegrees": self.latitudes[0],
            "latitudeOfLastGridPointInDegrees": self.latitudes[-1],
            "longitudeOfFirstGridPointInDegrees": self.longitudes[0] % 360,
            "longitudeOfLastGridPointInDegrees": self.longitudes[-1] % 360,
            "iDirectionIncrementInDegrees": self.longitudes[1] - self.longitudes[0],
            "jDirectionIncrementInDegrees": abs(self.latitudes[1] - self.latitudes[0]),
            "jScansPositively": int(self.latitudes[1] > self.latitudes[0]),
            "productDefinitionTemplateNumber": 1 if process is None else 11,
            **dict(zip(("discipline", "parameterCategory", "parameterNumber"), numbers, strict=True)),
            "typeOfFirstFixedSurface": 1 if height is None else 103,
            **(
                {}
                if height is None
                else {"scaledValueOfFirstFixedSurface": height, "scaleFactorOfFirstFixedSurface": 0}
            ),
            **({} if process is None else {"typeOfStatisticalProcessing": process}),
            "perturbationNumber": member,
            "stepRange": f"{self.hours[at]}" if process is None else f"{self.hours[0]}-{self.hours[at]}",
            "bitsPerValue": bits,
        }
        handle = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
        for key, value in keys.items():
            eccodes.codes_set(handle, key, value)
        eccodes.codes_set_values(handle, values.ravel())
        return handle


def shares(latitudes: Array, longitudes: Array, outline: Outline) -> Array:
    """Return the share of each cell in a basin (latitudes, longitudes), by the part of it times its area."""
    rings = [shapely.Polygon([(longitude, latitude) for latitude, longitude in ring]) for ring in outline]
    basin = shapely.union_all(rings)
    half = np.abs([latitudes[1] - latitudes[0], longitudes[1] - longitudes[0]]) / 2
    north, east = np.meshgrid(latitudes, longitudes, indexing="ij")
    found = np.zeros(north.shape)
    west_of, south_of, east_of, north_of = basin.bounds
    for turn in (-360, 0, 360):
        near = (north > south_of - 2 * half[0]) & (north < north_of + 2 * half[0])
        near &= (east + turn > west_of - 2 * half[1]) & (east + turn < east_of + 2 * half[1])
        south, west = north[near] - half[0], east[near] + turn - half[1]
        cells = shapely.box(west, south, west + 2 * half[1], south + 2 * half[0])
        found[near] += shapely.area(shapely.intersection(cells, basin)) / shapely.area(cells)
    low, high = (np.clip(north + side * half[0], -90, 90) for side in (-1, 1))
    found *= np.sin(np.radians(high)) - np.sin(np.radians(low))
    return np.asarray(found / found.sum())
