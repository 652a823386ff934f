"""Means of basins by another way: intersections of cells with outlines (`shares`), and days by pandas."""

from typing import Any

import numpy as np
import pandas as pd

from hydrology.base.arrays import Array
from testing.files.grids import GridRun, Outline, shares


def means(run: GridRun, name: str, outline: Outline) -> Array:
    """Return the means of a basin (members, steps)."""
    of_cells = shares(run.latitudes, run.longitudes, outline)
    return np.asarray((run.values[name] * of_cells).sum(axis=(2, 3)))


def hourly(run: GridRun, amounts: Array, zone: str) -> Any:
    """Return the amounts of a member by the hours of a time zone, of steps accumulated since the run began."""
    hours = np.arange(run.hours[0], run.hours[-1])
    of_hours = np.diff(np.interp(np.arange(run.hours[0], run.hours[-1] + 1), run.hours, amounts))
    stamps = pd.DatetimeIndex(run.began + hours.astype("timedelta64[h]")).tz_localize("UTC").tz_convert(zone)
    return pd.Series(of_hours, stamps)
