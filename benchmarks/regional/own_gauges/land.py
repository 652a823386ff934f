"""Attributes of the land between the basins: a grid by kriging, and how well it does where basins are left out.

`land` prints, for each attribute, the share of its variance over the basins that is explained where a fifth of them is
left out at a time, and writes the shipped grid, which is of all of them.
"""

from typing import Any

import numpy as np
import torch

from benchmarks.regional.data import basins, opened
from benchmarks.regional.members import FOLDS, fold
from hydrology.base.arrays import Array
from hydrology.base.units import AREA_ATTRIBUTES
from hydrology.weather.climate import CLIMATE
from jobspec.training import STATIC_ATTRIBUTES
from models import checkpoint
from models.pretrained import land
from records.basins import basins as stored_basins
from runtime.stored_files import replace_file

NAMES = tuple(name for name in STATIC_ATTRIBUTES if name not in {*CLIMATE, *AREA_ATTRIBUTES})
RANGE = 4.0
"""Degrees of latitude in which the correlation of two places falls to 1/e."""
NUGGET = 0.1
"""Share of the variance that differs between neighbours. Both explain most in basins left out."""
REACH = 3.0
"""Degrees beyond which no basin counts for a place."""
LATITUDES, LONGITUDES = np.arange(24.5, 49.6, 0.5), np.arange(-125.0, -66.4, 0.5)


def write() -> None:
    """Print what the grid explains in basins left out, and write it."""
    names = basins()
    database = opened()
    with database.reading() as session:
        sites = stored_basins.sites(session, names)
        values = stored_basins.attributes_of(session, names, NAMES)
    database.close()
    places = np.array([(sites[name].latitude, sites[name].longitude) for name in names], dtype=float)
    print(_explained(names, places, values))
    grid = np.stack(np.meshgrid(LATITUDES, LONGITUDES, indexing="ij"), axis=-1)
    rows = grid.reshape(-1, 2)
    there = _kriged(places, values, rows)
    there[_apart(rows, places).min(axis=1) > REACH] = np.nan
    tensors = {
        land.LATITUDES: torch.from_numpy(LATITUDES),
        land.LONGITUDES: torch.from_numpy(LONGITUDES),
        land.VALUES: torch.from_numpy(there.reshape(*grid.shape[:2], -1)).half(),
    }
    replace_file(land.LAND_FILE, checkpoint.dump(tensors, {"names": NAMES}))


def _explained(names: list[str], places: Array, values: Array) -> dict[str, Any]:
    estimated = np.full_like(values, np.nan)
    for number in range(1, FOLDS + 1):
        left = np.isin(names, fold(number))
        estimated[left] = _kriged(places[~left], values[~left], places[left])
    unexplained = ((values - estimated) ** 2).mean(axis=0) / values.var(axis=0)
    return {name: round(float(1 - rest), 2) for name, rest in zip(NAMES, unexplained, strict=True)}


def _kriged(known: Array, values: Array, places: Array) -> Array:
    """Return what simple kriging makes of values (basins, names) at places, within their own range."""
    mean, sd = values.mean(axis=0), values.std(axis=0)
    covariance = np.exp(-_apart(known, known) / RANGE) + NUGGET * np.eye(len(known))
    weights = np.linalg.solve(covariance, (values - mean) / sd)
    estimated = np.exp(-_apart(places, known) / RANGE) @ weights * sd + mean
    return np.asarray(np.clip(estimated, values.min(axis=0), values.max(axis=0)))


def _apart(some: Array, others: Array) -> Array:
    """Return distances in degrees of latitude, (some, others), of places that are far from the poles."""
    north, east = np.moveaxis(some[:, None] - others, -1, 0)
    return np.asarray(np.hypot(north, east * np.cos(np.radians(some[:, :1]))))
