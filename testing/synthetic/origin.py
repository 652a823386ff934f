"""The true origin of the flow of synthetic basins.

The place of its water at T0, by tags. Each store is well mixed: outflow has the tags of the store's content, as has
rain that falls on snow.
"""

import numpy as np

from hydrology.base.arrays import Array
from testing.synthetic.basins import Landscape, SyntheticWater, Weather

SNOW, OTHER, LATER = ORIGINS = range(3)
"""Water that was snow at T0, water that was elsewhere in the basin then, water that fell later."""


def discharge_by_origin(land: Landscape, sky: Weather, water: SyntheticWater, t0: int, horizon: int) -> Array:
    """Return the discharge of the days after T0 by its origin, (horizon, basins, 3) in mm/day.

    Args:
        t0: the index of T0 among the days of `sky` and `water`.
    """
    snow, soil, fast, slow = (
        _all_of(store[t0], origin)
        for store, origin in ((water.swe, SNOW), (water.soil, OTHER), (water.fast, OTHER), (water.slow, OTHER))
    )
    fast_share, fast_rate, slow_rate = (
        of_land[:, None] for of_land in (land.fast_share, land.fast_rate, land.slow_rate)
    )
    flows = []
    for day in range(t0 + 1, t0 + 1 + horizon):
        snow, inflow = _released(snow + _all_of(sky.precipitation[day], LATER), water.rain_plus_melt[day])
        wetness = soil.sum(axis=-1, keepdims=True) / land.soil_capacity[:, None]
        direct = inflow * wetness**2
        soil = soil + (inflow - direct)
        soil, excess = _released(soil, np.maximum(soil.sum(axis=-1) - land.soil_capacity, 0.0))
        soil, _ = _released(soil, water.loss[day])
        leaving = direct + excess
        fast, slow = fast + fast_share * leaving, slow + (1 - fast_share) * leaving
        quick, base = fast_rate * fast, slow_rate * slow
        fast, slow = fast - quick, slow - base
        flows.append(quick + base)
    return np.stack(flows)


def _all_of(amount: Array, origin: int) -> Array:
    """Return amounts (basins,) of one origin, (basins, 3)."""
    tags = np.zeros((len(amount), len(ORIGINS)))
    tags[:, origin] = amount
    return tags


def _released(store: Array, amount: Array) -> tuple[Array, Array]:
    """Return the remaining content of a store (basins, 3), and the outflow with the same mix of origins."""
    whole = store.sum(axis=-1)
    share = np.divide(amount, whole, out=np.zeros_like(whole), where=whole > 0)
    leaving = store * np.minimum(share, 1.0)[:, None]
    return store - leaving, leaving
