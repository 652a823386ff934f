"""Checksums of rows: a flipped bit is seen when a row is read, and a row that lies in another's place."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any
from zlib import crc32

from records.database.tables import Summed


def checksum(named: Iterable[object], *contents: bytes | None) -> int:
    """Return the CRC-32 of what names a row and of its contents, in their order."""
    at = crc32("\0".join(map(str, named)).encode())
    for content in contents:
        if content is not None:
            at = crc32(content, at)
    return at


def with_checksum(row: type[Summed], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row to be written, with their checksum."""
    contents = (values.get(name) for name in row.summed_contents)
    return {**values, "checksum": checksum((values[name] for name in row.summed_names), *contents)}


def is_whole(row: type[Summed], stored: Any) -> bool:
    """Return whether a stored row, with its columns as attributes, is the one that was written."""
    named, contents = attrgetter(*row.summed_names)(stored), (getattr(stored, name) for name in row.summed_contents)
    return bool(stored.checksum == checksum(named, *contents))
