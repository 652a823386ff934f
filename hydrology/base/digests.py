"""Digests: each function states what it is for. Stored digests are compared with new ones, so none may change.

Two others stand with what they protect: the CRC-32 of rows (`records.database.checksums`), which is cheap and detects
flipped bits only, and the HMAC that signs webhooks (`records.alerts.signatures`).
"""

import json
from collections.abc import Mapping
from hashlib import blake2b, file_digest
from hashlib import sha256 as _sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes in hex: the checksum stored beside a blob, a file that was read, a key's token."""
    return _sha256(content).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex, read in parts: of downloads, and of the files of a backup."""
    with path.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def fingerprint(content: Any) -> str:
    """Return the SHA-256 of a JSON value, whatever the order of its keys: equal requests, versions, entity tags."""
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode())


def short_name(content: bytes, digits: int = 16) -> str:
    """Return the first digits of a SHA-256: a name for a file or folder that depends on a path, URL or content."""
    return sha256(content)[:digits]


def named_arrays_sha256(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 of the names, types, shapes and bytes of arrays: of model states."""
    digest = _sha256()
    for name, array in sorted(arrays.items()):
        whole = np.ascontiguousarray(array)  # of one dimension at least
        digest.update(f"{name} {whole.dtype.str} {whole.shape}\n".encode())
        digest.update(whole.tobytes())
    return digest.hexdigest()


def inputs_sha256(*arrays: npt.NDArray[np.float32]) -> str:
    """Return the SHA-256 of the inputs of a run or training, in order; all NaN count as the same."""
    digest = _sha256()
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.where(np.isnan(array), np.float32("nan"), array).astype("<f4").tobytes())
    return digest.hexdigest()


def owned_digest(owner: str, content: bytes, size: int) -> bytes:
    """Return a BLAKE2b digest (`size` bytes) of packed content with its row's key: detects swapped, damaged rows."""
    return blake2b(owner.encode() + b"\n" + content, digest_size=size).digest()
