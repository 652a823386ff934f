"""The basins most similar to another, by place, height and climate."""

from collections.abc import Sequence

import numpy as np

from hydrology.base.arrays import Array

ATTRIBUTES = ("elev_mean", "p_mean", "aridity", "frac_snow")
"""The attributes that count beside the location."""


def most_similar(of_basin: Array, of_others: Array, maximum: int) -> list[int]:
    """Return the indices of the most similar other basins, the most similar first.

    Features, (6,) and (others, 6), are latitude and longitude in degrees, then `ATTRIBUTES`. Attributes unknown (NaN)
    for the basin do not count; others that lack a counting one are left out.
    """
    one, others = _comparable(of_basin[np.newaxis])[0], _comparable(of_others)
    counts = np.isfinite(one)
    whole = np.flatnonzero(np.isfinite(others[:, counts]).all(axis=1))
    if not counts.any() or not len(whole):
        return []
    known = others[whole][:, counts]
    spread = known.std(axis=0)
    distance = (((known - one[counts]) / np.where(spread > 0, spread, 1.0)) ** 2).sum(axis=1)
    nearest: Sequence[int] = whole[np.argsort(distance, kind="stable")][:maximum].tolist()
    return list(nearest)


def _comparable(features: Array) -> Array:
    """Return locations as points on a sphere, so that longitudes meet at the date line, with the attributes."""
    latitude, longitude = np.radians(features[:, 0]), np.radians(features[:, 1])
    across = np.cos(latitude)
    globe = np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)
    return np.concatenate([globe, features[:, 2:]], axis=1)
