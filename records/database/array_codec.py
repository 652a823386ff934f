"""Losslessly packs labelled arrays into few bytes, with a digest that detects damage.

The bytes of equally wide numbers lie plane by plane: the first byte of every number, then the second. Signs and
exponents are similar and so stand together; the last bytes are noise, which no method compresses. A line of JSON
before them describes the arrays. Everything is deflated [RFC 1951], each plane with its own code, starting from a
dictionary of frequent contents: `DICTIONARY` is a part of the format and never changes.
"""

import json
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hydrology.base.digests import owned_digest
from records.database.ids import Corrupt

_DIGEST = 8  # bytes
_RAW = -15  # deflate without a header: the digest replaces it
_LEVEL = 6
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


TEXT_DICTIONARY = (
    b'{"seen_in_training":false,"outside_training":["elev_mean","frac_snow","p_mean"],"trained_on":"daymet","train'
    b'ing_note":" learnt from: of its attributes lie beyond those that were. The version learnt from Freshet by Op'
    b'en-Meteo.com CC BY 4.0 creativecommons.org/licenses/by/4.0/ {"credit":"Weather data ","licence":""https://U.'
    b"S. Geological Survey, public domain. It has no drainage area of the weather product. Daily discharge of the "
    b"gauge was not known. The record of its discharge is too short for a normal. Nothing like this run was ever o"
    b"bserved: how far its flow is off, nothing tells. The error model of version knows nothing of : it was not fi"
    b"tted to its flow. has no error model: fit one (freshet calibrate). Forecasts with a weather forecast are cal"
    b"ibrated on their own past (freshet calibrate --forecasts), once 90 days T0 with open-meteo/ecmwf_ifs025 have"
    b' been observed: have been forecast so far.{"mapping":"regional","p05_mm":0.0,"p95_mm":0.0,"skill":null,"skil'
    b'l_reason":"No snow cells were chosen for this basin. The network\'s cells do not hold water."{"from_product":'
    b'"live","to_product":"maurer_extended","sha256":"","tmax":2,"tmin":2,"srad":2,"vp":2,"precipitation":{"seen_i'
    b'n_training":true,"outside_training":[],"trained_on":"maurer_extended","training_note":"USGS-01013500 is one '
    b'of the 447 basins that the version learnt from.","attributes_assumed":[],"traces":null,"flow_at_t0_mm":0.,"d'
    b'ischarge_mm":1.,"normal_mm":2.,"normal_reason":null,"snow_mm":3.,"snow":{"mapping":"basin","p05_mm":4.,"p95_'
    b'mm":5.,"skill":{"version":"01a20","products":["uaz"],"period":"1989-10-01..1999-09-30","basins":null,"r":0.9'
    b',"bias_pct":-,"bare_mm":6.},"skill_reason":null,"snow17_mm":null,"snow17_reason":null},"snow_normal_mm":null'
    b',"snow_normal_reason":"No past of version 01a20 that keeps its water was simulated: simulate it (freshet thr'
    b'esholds simulate).","peak_mm_per_day":7.,"peak_lead":1,"snow_reason":null,"filled_forcing":{},"skipped_days"'
    b':0,"product_credit":null,"calibration":{"sha256":"","weather":"observed","fitted_on":"1980-10-01..1989-09-30'
    b'","own_days":3287,"last_flow_day":"20","last_flow_mm":8.},"calibration_reason":null,"age_reason":"The run wa'
    b's not asked for the age of its water: forecast with --age, or with `age` in a job.","bridges":[]}'
)
"""The dictionary for JSON values: frequent contents of run summaries. It never changes, as `DICTIONARY`."""


class Labelled(NamedTuple):
    """An array, its unit, and the labels of its axes by their names, in order."""

    unit: str
    axes: Mapping[str, Sequence[Any]]
    values: npt.NDArray[Any]


def pack_text(value: Any) -> bytes:
    """Return a JSON value as bytes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    content = _deflated([text], TEXT_DICTIONARY)
    return owned_digest(_TEXT, content, _DIGEST) + content


def unpack_text(packed: bytes) -> Any:
    """Return the JSON value of packed bytes.

    Raises:
        Corrupt: the bytes are not as they were packed.
    """
    return json.loads(_inflated(_TEXT, packed, TEXT_DICTIONARY))


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
    content = _deflated([header.encode() + b"\n", *_planes(list(ordered.values()))], DICTIONARY)
    return owned_digest(owner, content, _DIGEST) + content


def unpack(owner: str, packed: bytes, names: Collection[str] | None = None) -> dict[str, Labelled]:
    """Unpack arrays: all, or the present ones of some names.

    Raises:
        Corrupt: the bytes are not as they were packed for the owner.
    """
    header, _, numbers = _inflated(owner, packed, DICTIONARY).partition(b"\n")
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
    return packed[:_DIGEST] == owned_digest(owner, packed[_DIGEST:], _DIGEST)


def _deflated(sections: Sequence[bytes], dictionary: bytes) -> bytes:
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, dictionary)
    return b"".join(stream.compress(section) + stream.flush(zlib.Z_BLOCK) for section in sections) + stream.flush()


def _inflated(owner: str, packed: bytes, dictionary: bytes) -> bytes:
    if not is_whole(owner, packed):
        raise Corrupt(f"The stored content of {owner} is damaged: restore the database from a backup.")
    return zlib.decompressobj(_RAW, dictionary).decompress(packed[_DIGEST:])


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
