"""Checksums of rows: they detect flipped bits and swapped rows on reading."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, ClassVar
from zlib import crc32

from sqlalchemy.orm import Mapped


class Checksummed:
    """A row with the CRC-32 of its content (`records.database.checksums`): `statements.add_all` writes it.

    `summed_names` are the columns that identify the row, at least two; `summed_contents` those of bytes.
    """

    summed_names: ClassVar[tuple[str, ...]]
    summed_contents: ClassVar[tuple[str, ...]]

    checksum: Mapped[int]


def checksum(named: Iterable[object], *contents: bytes | None) -> int:
    """Return the CRC-32 of a row's identifiers and contents, in order."""
    at = crc32("\0".join(map(str, named)).encode())
    for content in contents:
        if content is not None:
            at = crc32(content, at)
    return at


def with_checksum(row: type[Checksummed], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row to write, with their checksum."""
    contents = (values.get(name) for name in row.summed_contents)
    return {**values, "checksum": checksum((values[name] for name in row.summed_names), *contents)}


def is_whole(row: type[Checksummed], stored: Any) -> bool:
    """Return whether a stored row (columns as attributes) is undamaged."""
    named, contents = attrgetter(*row.summed_names)(stored), (getattr(stored, name) for name in row.summed_contents)
    return bool(stored.checksum == checksum(named, *contents))
