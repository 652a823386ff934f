"""Identifiers of records, checksums of rows, and named arrays as bytes: they detect flipped bits and swapped rows."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save
from sqlalchemy import Table

from hydrology.base.digests import fingerprint, named_arrays_sha256, sha256
from hydrology.base.errors import DataProblem


class Corrupt(DataProblem):
    """A stored blob is not as it was written."""

    status = 500
    remedy = "Restore the database from a backup: its content is not as it was written."


FORM = "^[0-9a-f]{22}$"
"""The pattern of identifiers."""


def new_id(wall: datetime) -> str:
    """Return a new identifier: the machine's milliseconds (12 hex digits) and 10 random digits. Sorts by time."""
    return f"{int(wall.timestamp() * 1000):012x}{secrets.token_hex(5)}"


def id_after(newest: str | None, wall: datetime) -> str:
    """Return a new identifier that sorts after another one, whose clock may have been ahead."""
    found = new_id(wall)
    return found if newest is None or found > newest else f"{int(newest[:12], 16) + 1:012x}{found[12:]}"


def first_of(instant: datetime) -> str:
    return f"{int(instant.timestamp() * 1000):012x}"


def verified(content: bytes, expected: str, what: str) -> bytes:
    """Return the bytes when their SHA-256 is the expected one."""
    if sha256(content) != expected:
        raise Corrupt(f"The stored {what} is damaged (its SHA-256 is not {expected}): restore the database.")
    return content


SUMMED = "summed"
"""The place of a `Summed` in the information about its table."""


class Summed(NamedTuple):
    """The columns whose CRC-32 a row holds: those that identify it, at least two, and those of bytes."""

    names: tuple[str, ...]
    contents: tuple[str, ...]


def checksum(named: Iterable[object], *contents: bytes | None) -> int:
    """Return the CRC-32 of a row's identifiers and contents, in order."""
    at = crc32("\0".join(map(str, named)).encode())
    for content in contents:
        if content is not None:
            at = crc32(content, at)
    return at


def with_checksum(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row to write, with their checksum where its table has one."""
    summed: Summed | None = table.info.get(SUMMED)
    if summed is None:
        return dict(values)
    contents = (values.get(name) for name in summed.contents)
    return {**values, "checksum": checksum((values[name] for name in summed.names), *contents)}


def is_whole(table: Table, stored: Any) -> bool:
    """Return whether a stored row (columns as attributes) of a table with checksums is undamaged."""
    summed: Summed = table.info[SUMMED]
    named, contents = attrgetter(*summed.names)(stored), (getattr(stored, name) for name in summed.contents)
    return bool(stored.checksum == checksum(named, *contents))


Arrays = Mapping[str, npt.NDArray[Any]]


def pack_arrays(arrays: Arrays) -> bytes:
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def unpack_arrays(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the named arrays of safetensors bytes, by name: safetensors reads them in any order."""
    return dict(sorted(load(content).items()))


def member_hashes(arrays: Arrays) -> list[str]:
    """Return the SHA-256 of each member's part of all arrays: names, types, shapes and bytes."""
    (members,) = {len(array) for array in arrays.values()}
    return [named_arrays_sha256({name: array[member] for name, array in arrays.items()}) for member in range(members)]


def whole_arrays(content: bytes, hashes: Sequence[str], sha256: str) -> dict[str, npt.NDArray[Any]] | None:
    """Return the named arrays of safetensors bytes. None if their fingerprints do not match."""
    try:
        arrays = unpack_arrays(content)
        of_members = member_hashes(arrays)
    except (SafetensorError, KeyError, ValueError):
        return None
    return arrays if of_members == list(hashes) and fingerprint(of_members) == sha256 else None
