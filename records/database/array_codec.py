"""Losslessly packs labelled arrays into few bytes, with a digest that detects damage.

The bytes of equally wide numbers lie plane by plane: the first byte of every number, then the second. Signs and
exponents are similar and so stand together; the last bytes are noise, which no method compresses. A line of JSON
before them describes the arrays. Everything is compressed with Zstandard [RFC 8878].
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import zstandard

from records.database.ids import Corrupt

_DIGEST = 8  # bytes
_LEVEL = 12
_TEXT = "a summary"  # the owner name of every JSON value


class Labelled(NamedTuple):
    """An array, its unit, and the labels of its axes by their names, in order."""

    unit: str
    axes: Mapping[str, Sequence[Any]]
    values: npt.NDArray[Any]


def pack_text(value: Any) -> bytes:
    """Return a JSON value as bytes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    return _compressed(_TEXT, text)


def unpack_text(packed: bytes) -> Any:
    """Return the JSON value of packed bytes.

    Raises:
        Corrupt: the bytes are not as they were packed.
    """
    return json.loads(_decompressed(_TEXT, packed))


def pack(owner: str, arrays: Mapping[str, Labelled]) -> bytes:
    """Pack an owner's arrays into bytes.

    Args:
        owner: a text that names the owner, so that arrays of another owner are detected.
    """
    axes: list[tuple[str, list[Any]]] = []
    table = []
    ordered = {name: _plain(array.values) for name, array in arrays.items()}
    for name, array in arrays.items():
        of_array = [(axis, list(labels)) for axis, labels in array.axes.items()]
        axes += [axis for axis in of_array if axis not in axes]
        table.append([name, array.unit, ordered[name].dtype.str, [axes.index(axis) for axis in of_array]])
    header = json.dumps({"axes": axes, "arrays": table}, separators=(",", ":"), ensure_ascii=False)
    return _compressed(owner, b"".join([header.encode() + b"\n", *_planes(list(ordered.values()))]))


def unpack(owner: str, packed: bytes, names: Collection[str] | None = None) -> dict[str, Labelled]:
    """Unpack arrays: all, or the present ones of some names.

    Raises:
        Corrupt: the bytes are not as they were packed for the owner.
    """
    header, _, numbers = _decompressed(owner, packed).partition(b"\n")
    described = _described(header)
    values = _from_planes(numbers, described)
    return {
        of.name: Labelled(of.unit, of.axes, array)
        for of, array in zip(described, values, strict=True)
        if names is None or of.name in names
    }


class _Description(NamedTuple):
    """An array's description in the header."""

    name: str
    unit: str
    axes: Mapping[str, Sequence[Any]]
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    length: int


@lru_cache(maxsize=256)
def _described(header: bytes) -> list[_Description]:
    """Return the descriptions of a header. All basins of a run have the same."""
    content = json.loads(header)
    axes = content["axes"]
    described = []
    for name, unit, kind, of_array in content["arrays"]:
        shape = tuple(len(axes[axis][1]) for axis in of_array)
        labels = MappingProxyType({axes[axis][0]: axes[axis][1] for axis in of_array})
        described.append(_Description(name, unit, labels, np.dtype(kind), shape, prod(shape)))
    return described


def is_whole(owner: str, packed: bytes) -> bool:
    """Return whether bytes are as they were packed for their owner."""
    return packed[:_DIGEST] == _digest(owner, packed[_DIGEST:])


def _compressed(owner: str, content: bytes) -> bytes:
    compressed = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=False).compress(content)
    return _digest(owner, compressed) + compressed


def _decompressed(owner: str, packed: bytes) -> bytes:
    if not is_whole(owner, packed):
        raise Corrupt(f"The stored content of {owner} is damaged: restore the database from a backup.")
    return zstandard.ZstdDecompressor().decompress(packed[_DIGEST:])


def _digest(owner: str, content: bytes) -> bytes:
    return blake2b(owner.encode() + b"\n" + content, digest_size=_DIGEST).digest()


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array row-major and little-endian."""
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<"))


def _by_size(kinds: Sequence[np.dtype[Any]]) -> dict[int, list[int]]:
    """Return the positions of arrays by the bytes per number."""
    places: dict[int, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind.itemsize, []).append(place)
    return dict(sorted(places.items()))


def _planes(arrays: Sequence[npt.NDArray[Any]]) -> Iterator[bytes]:
    """Yield the bytes of the numbers of each width, highest byte first."""
    for size, places in _by_size([array.dtype for array in arrays]).items():
        together = np.frombuffer(b"".join(arrays[place].tobytes() for place in places), np.uint8)
        for plane in together.reshape(-1, size).T[::-1]:
            yield plane.tobytes()


def _from_planes(numbers: bytes, described: Sequence[_Description]) -> list[npt.NDArray[Any]]:
    """Return the arrays that were split into planes."""
    arrays: dict[int, npt.NDArray[Any]] = {}
    begin = 0
    for size, places in _by_size([of.kind for of in described]).items():
        count = sum(described[place].length for place in places)
        planes = np.frombuffer(numbers, np.uint8, count * size, begin).reshape(size, count)
        together, begin = np.ascontiguousarray(planes[::-1].T).reshape(-1), begin + count * size
        first = 0
        for place in places:
            of, last = described[place], first + described[place].length * size
            arrays[place] = together[first:last].view(of.kind).reshape(of.shape)
            first = last
    return [arrays[place] for place in range(len(described))]
