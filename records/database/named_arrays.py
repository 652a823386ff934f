"""Packs the named arrays of a state as bytes, with fingerprints that detect damage."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hydrology.base.digests import fingerprint, named_arrays_sha256

Arrays = Mapping[str, npt.NDArray[Any]]


def pack(arrays: Arrays) -> bytes:
    """Return named arrays as safetensors bytes."""
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the named arrays of safetensors bytes, by name: safetensors reads them in any order."""
    return dict(sorted(load(content).items()))


def member_hashes(arrays: Arrays) -> list[str]:
    """Return the SHA-256 of each member's part of all arrays: names, types, shapes and bytes."""
    (members,) = {len(array) for array in arrays.values()}
    return [named_arrays_sha256({name: array[member] for name, array in arrays.items()}) for member in range(members)]


def whole(content: bytes, hashes: Sequence[str], sha256: str) -> dict[str, npt.NDArray[Any]] | None:
    """Return the named arrays of safetensors bytes. None if their fingerprints do not match."""
    try:
        arrays = unpack(content)
        of_members = member_hashes(arrays)
    except (SafetensorError, KeyError, ValueError):
        return None
    return arrays if of_members == list(hashes) and fingerprint(of_members) == sha256 else None
