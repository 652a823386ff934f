"""Stores sample paths as ranks into each day's quantiles.

On every day, equally likely paths have values at even shares of the day's distribution
(`hydrology.uncertainty.error_paths`), whose quantiles are stored with them. So a value follows from its rank on that
day, except for its last bits: ranks and last bits together take a third of the space.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.uncertainty.error_model import between_levels, even_levels

Numbers = npt.NDArray[Any]

MAX_PATHS = 256
"""Maximum number of paths: a rank is a byte."""
_FARTHEST = 127  # maximum difference in units of the last bit: it is stored as a byte


def encode_ranks(paths: Numbers, levels: Sequence[float], quantiles: Numbers) -> Numbers | None:
    """Encode paths as ranks and differences in units of the last bit.

    Args:
        paths: (paths, leads).
        levels: of the quantiles, rising.
        quantiles: (levels, leads).

    Returns:
        (2, leads, paths) bytes; None if the paths do not match the quantiles or cannot be encoded.
    """
    if len(paths) > MAX_PATHS or paths.dtype != "<f4" or quantiles.dtype != "<f4" or not _plain(paths, quantiles):
        return None
    order = paths.argsort(axis=0, kind="stable")
    ranks = order.argsort(axis=0, kind="stable")
    expected = np.take_along_axis(_values(len(paths), levels, quantiles), ranks, axis=0)
    differences = _bits(paths) - _bits(expected)
    if np.abs(differences).max(initial=0) > _FARTHEST:
        return None
    return np.stack([ranks.T.astype(np.uint8), differences.T.astype(np.int8).view(np.uint8)])


def decode_ranks(stored: Numbers, levels: Sequence[float], quantiles: Numbers) -> Numbers:
    """Decode the paths, (paths, leads), that `encode_ranks` was given."""
    ranks, differences = stored[0].T.astype(np.int64), stored[1].view(np.int8).T.astype(np.int64)
    expected = np.take_along_axis(_values(len(ranks), levels, quantiles), ranks, axis=0)
    return np.asarray((_bits(expected) + differences).astype("<i4").view("<f4"))


def _plain(*arrays: Numbers) -> bool:
    """Return whether all numbers are finite and not negative. Only then their bits are in the order of their values."""
    return all(bool(np.isfinite(array).all() and not np.signbit(array).any()) for array in arrays)


def _values(count: int, levels: Sequence[float], quantiles: Numbers) -> Numbers:
    """Return the values at even shares of each day's distribution, (count, leads)."""
    upper, fraction = between_levels(even_levels(count), levels)
    across = fraction[:, None]
    low, high = (quantiles[rows].astype(np.float64) for rows in (upper - 1, upper))
    return np.asarray(low * (1 - across) + high * across).astype("<f4")


def _bits(values: Numbers) -> Numbers:
    return np.ascontiguousarray(values).view("<i4").astype(np.int64)
