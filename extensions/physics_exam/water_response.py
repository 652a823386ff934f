"""Measures of how flow responds to changed weather.

They take arrays (..., days) in mm/day, in float64, and return one number for each series, (...).
"""

import numpy as np

from hydrology.base.arrays import Array


def largest_excess(flow: Array, other: Array) -> Array:
    """Return the largest amount by which `flow` exceeds `other` on any day, at least 0, in mm/day."""
    excess: Array = np.maximum(flow - other, 0).max(axis=-1)
    return excess


def returned_share(with_storm: Array, without: Array, storm: Array) -> Array:
    """Return the largest share of a storm (mm) that has left as additional flow by any day.

    Cumulative flow with the storm minus that without, over the storm's water. Above 1 the storm has released water that
    would have stayed in the basin without it.
    """
    share: Array = np.cumsum(with_storm - without, axis=-1).max(axis=-1) / storm
    return share


def largest_rise(flow: Array) -> Array:
    """Return the largest rise of flow above its lowest value so far, in mm/day."""
    rise: Array = (flow - np.minimum.accumulate(flow, axis=-1)).max(axis=-1)
    return rise
