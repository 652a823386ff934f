"""Losslessly packs labelled arrays into few bytes, with a digest that detects damage.

The bytes of equally wide numbers lie plane by plane: the first byte of every number, then the second. Signs and
exponents are similar and so stand together; the last bytes are noise, which no method compresses. A line of JSON
before them describes the arrays. Everything is compressed with Zstandard [RFC 8878], starting from a
dictionary of frequent headers: `DICTIONARY` is a part of the format and never changes.

Equally likely paths are stored as ranks into each day's quantiles: they have values at even shares of the day's
distribution (`hydrology.uncertainty.error_paths`), which is stored with them. So a value follows from its rank on that
day, except for its last bits: ranks and last bits together take a third of the space.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from threading import get_ident
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import zstandard

from hydrology.base.digests import owned_digest
from hydrology.uncertainty.error_model import between_levels, even_levels
from records.database.checksums import Corrupt

_DIGEST = 8  # bytes
_LEVEL = 5
_TEXT = "a summary"  # the owner name of every JSON value
DICTIONARY = (
    ",".join(f'"{year}"' for year in range(1948, 2100)) + ",".join(map(str, range(367))) + ""
    "[0.005,0.01,0.02,0.03,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0"
    '.9,0.95,0.97,0.98,0.99,0.995]["level",[0.05,0.1,0.25,0.5,0.75,0.9,0.95]]["level",[0.05,0.95]]["path"'
    ',[0,1,2]]["origin",["stored","yet_to_fall","snow","other"]]["statistic",["mean","p05","p95"]]["sourc'
    'e",["weights","weather","state"]]["age",["["entry",["discharge","loss","precipitation","storage chan'
    'ge","residual","tolerance"]],["trace",["00","perturbed-00",["discharge_by_age","mm/day","<f4",["disc'
    'harge_variance","mm2/day2","<f4",["snow_spread","mm","<f4",["discharge_normal","mm/day","<f4",["disc'
    'harge_by_origin","mm/day","<f4",["ledger","mm","<f4",["snow","mm","<f4",{"axes":[["member",["0","1",'
    '"2","3","4","5","6","7","8","9"]],["cell",[0,1,2],["lead",[1,2,3,4,5,6,7,8,9,10]]],"arrays":[["cells'
    '_at_t0","mm","<f4",[0,1]],["discharge","mm/day","<f4",[0,2]],["discharge_calibrated","mm/day","<f4",'
    '[3,2]],["discharge_paths","","|u1",["discharge_quantiles","mm/day","<f4",["ledgers","mm","<f8",[["0"'
    ',null],["loss","mm/day","<f4",["precipitation","mm/day","<f4",[2]],["storage","mm","<f4",[0,2]]]}'
).encode()
"""The dictionary for arrays: headers of typical runs."""
_HEADERS = zstandard.ZstdCompressionDict(DICTIONARY, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


class Labelled(NamedTuple):
    """An array, its unit, and the labels of its axes by their names, in order."""

    unit: str
    axes: Mapping[str, Sequence[Any]]
    values: npt.NDArray[Any]


def pack_text(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    return _compressed(_TEXT, text)


def unpack_text(packed: bytes) -> Any:
    return json.loads(_decompressed(_TEXT, packed))


def pack(owner: str, arrays: Mapping[str, Labelled]) -> bytes:
    """Pack arrays into bytes, with their owner's name to detect another's."""
    axes: list[tuple[str, list[Any]]] = []
    table = []
    ordered = {name: _plain(array.values) for name, array in arrays.items()}
    for name, array in arrays.items():
        of_array = [(axis, list(labels)) for axis, labels in array.axes.items()]
        axes += [axis for axis in of_array if axis not in axes]
        table.append([name, array.unit, ordered[name].dtype.str, [axes.index(axis) for axis in of_array]])
    header = json.dumps({"axes": axes, "arrays": table}, separators=(",", ":"), ensure_ascii=False)
    return _compressed(owner, b"".join([header.encode() + b"\n", *_planes(list(ordered.values()))]), _HEADERS)


def unpack(owner: str, packed: bytes, names: Collection[str] | None = None) -> dict[str, Labelled]:
    """Unpack arrays: all, or the present ones of some names."""
    header, _, numbers = _decompressed(owner, packed, _HEADERS).partition(b"\n")
    described = _described(header)
    values = _from_planes(numbers, described)
    return {
        of.name: Labelled(of.unit, of.axes, array)
        for of, array in zip(described, values, strict=True)
        if names is None or of.name in names
    }


class _Description(NamedTuple):
    name: str
    unit: str
    axes: Mapping[str, Sequence[Any]]
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    length: int


@lru_cache(maxsize=256)
def _described(header: bytes) -> list[_Description]:
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
    return packed[:_DIGEST] == owned_digest(owner, packed[_DIGEST:], _DIGEST)


def _compressed(owner: str, content: bytes, frequent: zstandard.ZstdCompressionDict | None = None) -> bytes:
    compressed = zstandard.ZstdCompressor(level=_LEVEL, dict_data=frequent).compress(content)
    return owned_digest(owner, compressed, _DIGEST) + compressed


def _decompressed(owner: str, packed: bytes, frequent: zstandard.ZstdCompressionDict | None = None) -> bytes:
    if not is_whole(owner, packed):
        raise Corrupt(f"The stored content of {owner} is damaged: restore the database from a backup.")
    return _decompressor(get_ident(), frequent).decompress(packed[_DIGEST:])


@lru_cache(maxsize=256)
def _decompressor(_thread: int, frequent: zstandard.ZstdCompressionDict | None) -> zstandard.ZstdDecompressor:
    """Return a thread's own, as no two may share one; to make it takes 40 times as long as to use it."""
    return zstandard.ZstdDecompressor(dict_data=frequent)


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<"))


def _by_size(kinds: Sequence[np.dtype[Any]]) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind.itemsize, []).append(place)
    return dict(sorted(places.items()))


def _planes(arrays: Sequence[npt.NDArray[Any]]) -> Iterator[bytes]:
    for size, places in _by_size([array.dtype for array in arrays]).items():
        together = np.frombuffer(b"".join(arrays[place].tobytes() for place in places), np.uint8)
        for plane in together.reshape(-1, size).T[::-1]:
            yield plane.tobytes()


def _from_planes(numbers: bytes, described: Sequence[_Description]) -> list[npt.NDArray[Any]]:
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


Numbers = npt.NDArray[Any]

MAX_PATHS = 256
"""Maximum number of paths: a rank is a byte."""
_FARTHEST = 127  # maximum difference in units of the last bit: it is stored as a byte


def encode_ranks(paths: Numbers, levels: Sequence[float], quantiles: Numbers) -> Numbers | None:
    """Encode paths, (paths, leads), as ranks and differences in last bits.

    `quantiles` are (levels, leads), and `levels` rise. Return (2, leads, paths) bytes; None if the paths do not match
    the quantiles or cannot be encoded.
    """
    arrays = paths, quantiles
    are_plain = all(of.dtype == "<f4" and np.isfinite(of).all() and not np.signbit(of).any() for of in arrays)
    if len(paths) > MAX_PATHS or not are_plain:
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


def _values(count: int, levels: Sequence[float], quantiles: Numbers) -> Numbers:
    upper, fraction = between_levels(even_levels(count), levels)
    across = fraction[:, None]
    low, high = (quantiles[rows].astype(np.float64) for rows in (upper - 1, upper))
    return np.asarray(low * (1 - across) + high * across).astype("<f4")


def _bits(values: Numbers) -> Numbers:
    return np.ascontiguousarray(values).view("<i4").astype(np.int64)
