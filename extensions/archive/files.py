"""Reads files of the archive for one request: each from one opened file, whole or a range of its bytes."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.http.problems import NoSuchRange
from extensions.archive.layout import WITH_MEMBERS
from hydrology.base.errors import NotFound

NAME = r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,99}"
PATH = f"^{NAME}(/{NAME}){{0,9}}$"
"""Paths below the folder: no empty and no hidden part, and none that leads out."""
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class NoArchiveFile(NotFound):
    """The archive has no such file. A missing chunk of a Zarr array holds its fill value."""

    kind = "unknown-archive-file"
    remedy = "Read `zarr.json` of the store: it lists the arrays and their chunks."


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of a file.

    Attributes:
        content: its bytes.
        first: the position of the first of them.
        length: of the whole file.
    """

    content: bytes
    first: int
    length: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return len(self.content) == self.length


class ArchiveFile:
    """An opened file: its bytes are those of its version, even if another takes its place.

    Attributes:
        version: changes with the file.
    """

    def __init__(self, opened: BinaryIO) -> None:
        about = os.fstat(opened.fileno())
        self._opened, self._length = opened, about.st_size
        self.version = [about.st_mtime_ns, about.st_size, about.st_ino]

    def part(self, byte_range: str | None) -> ByteRange:
        """Read it, or a range of it [RFC 9110, section 14]; a range of another form is ignored.

        Raises:
            NoSuchRange: the range begins after its end.
        """
        first, end = _bounds(byte_range, self._length)
        self._opened.seek(first)
        return ByteRange(self._opened.read(end - first), first, self._length)


@contextmanager
def opened(folder: Path | None, path: str) -> Iterator[ArchiveFile]:
    """Open a file below a folder.

    Raises:
        NoArchiveFile: there is no such file, or it leads out of the folder.
    """
    missing = NoArchiveFile(f"The archive has no file {path!r}.")
    if folder is None or re.fullmatch(PATH, path) is None:
        raise missing
    root = folder.resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise missing
    try:
        with file.open("rb") as binary:
            yield ArchiveFile(binary)
    except OSError:
        raise missing from None


def is_fixed(path: str) -> bool:
    """Return whether a file holds values of one issue, which never change once `zarr.json` leads to them."""
    _, _, chunk = path.partition("/")
    return chunk.partition("/c/")[0] in _OF_ISSUES


_OF_ISSUES = {array.name for array in WITH_MEMBERS if array.has_shards}


def _bounds(byte_range: str | None, length: int) -> tuple[int, int]:
    """Return the first byte and the one after the last."""
    found = _RANGE.fullmatch(byte_range or "")
    if found is None or found.groups() == ("", ""):
        return 0, length
    first, last = found.groups()
    if not first:
        start, end = max(0, length - int(last)), length
    else:
        start, end = int(first), min(length, int(last) + 1) if last else length
    if last and first and int(last) < int(first):
        return 0, length
    if start >= length:
        raise NoSuchRange(length)
    return start, end
