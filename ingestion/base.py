"""The interface of data sources, and the files that they may read: regular ones, of limited size, below stated folders.

The file opened is the file checked: symbolic links are resolved first, and the path from the folder to the file is then
opened without following any, so that a link put there in between is refused too. Nothing here waits for a FIFO or reads
a device.
"""

import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from hydrology.base.digests import sha256
from hydrology.base.errors import Problem, printable
from hydrology.base.series import DailySeries

MAX_NAME = 300


def column_label(columns: Sequence[str], name: str, known: Collection[str]) -> str:
    """Return a column's name for errors. Its name if known here, else its number."""
    return name if name in known else f"column {columns.index(name) + 1}"


def shown_name(name: str) -> str:
    """Return a file's name for display and storage. Without control characters, limited in length."""
    name = printable(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}...{name[-MAX_NAME // 2 :]}"


class SourceError(Problem):
    """A file of a source cannot be used. The text gives the file, the line, the cause and the remedy.

    Others than the owner of the file may read it, so it never repeats the file's content, except for what was
    recognised: a known column, a calendar day, a number, a mark of a missing value such as NA. The line is counted
    from 1, or None where no single line is at fault.
    """

    kind = "bad-source"
    exit_code = 4

    def __init__(self, file: str, cause: str, remedy: str, line: int | None = None) -> None:
        file = shown_name(file)
        place = file if line is None else f"{file}, line {line}"
        super().__init__(f"{place}: {cause}; {remedy}.")
        self.file, self.line, self.cause, self.remedy = file, line, cause, remedy


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with data. Its name for display, and the SHA-256 and size of its bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class SourceSeries:
    """One variable of one product, and the file it came from."""

    product: str
    variable: str
    series: DailySeries
    file: SourceFile


@dataclass(frozen=True, slots=True)
class BasinData:
    """All data of one basin in a source.

    Attributes:
        basin: the full identifier (`USGS-01013500`).
        latitude, longitude: of the gauge, degrees north and east.
        areas: every area the source gives, by name, m2. A forcing file's own area has the product's name.
        attributes: the numeric attributes in the source's units; a missing one is left out.
    """

    basin: str
    name: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    areas: Mapping[str, float] = field(default_factory=dict)
    attributes: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    series: tuple[SourceSeries, ...] = ()
    files: tuple[SourceFile, ...] = ()


class Source(Protocol):
    """A source of basin data."""

    def basins(self) -> list[str]:
        """Return the full identifiers of the basins with forcing or discharge, sorted."""
        ...

    def read(self, basin: str) -> BasinData:
        """Return all data of a basin; a SourceError leaves others readable."""
        ...


# The longest file of the published archives has less than 1 MB. A far larger file is a mistake or a bomb.
LARGEST_FILE = 64 * 2**20

_PLAIN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Files:
    """The files that may be read, and a callback for each.

    Attributes:
        roots: the folders that files must be in, at any depth, or the files themselves; None: anywhere, as for the
            command line, which reads what its user may.
        names: what files are called in errors and as origins, by path; others by their path.
        on_file: called with the name of each file before it is read, so that a crash can be traced to its file.
    """

    roots: tuple[Path, ...] | None = None
    on_file: Callable[[str], None] = lambda _name: None
    names: Mapping[Path, str] = field(default_factory=dict)

    def shown(self, path: Path) -> str:
        """Return what a file is called in errors and as an origin."""
        return self.names.get(path, str(path))

    def locate(self, path: Path) -> Path:
        """Return a path, with its links resolved where roots are set.

        A path outside the roots is refused. Whether it exists is not revealed.
        """
        if self.roots is None:
            return path
        root, parts = self._root_and_rest(path)
        return root.joinpath(*parts)

    def open(self, path: Path) -> BufferedReader:
        """Open a regular file inside the roots."""
        self.on_file(self.shown(path))
        try:
            descriptor = os.open(path, _PLAIN) if self.roots is None else _open_below(*self._root_and_rest(path))
        except OSError as error:
            raise unreadable(self.shown(path), error) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError(
                self.shown(path), "is not a regular file", "give a file, not a folder, a pipe or a device"
            )
        return os.fdopen(descriptor, "rb")

    def read(self, path: Path) -> tuple[SourceFile, bytes]:
        """Read a whole file. Return its name, checksum and size, and its bytes."""
        with self.open(path) as file:
            try:
                content = file.read(LARGEST_FILE + 1)
                size = max(len(content), os.fstat(file.fileno()).st_size)
            except OSError as error:
                raise unreadable(self.shown(path), error) from error
        if size > LARGEST_FILE:
            raise too_large(self.shown(path), size)
        return described(self.shown(path), content), content

    def _root_and_rest(self, path: Path) -> tuple[Path, tuple[str, ...]]:
        """Return the root above a path, and the parts of the path below it, with links resolved."""
        assert self.roots is not None
        try:
            place = Path(os.path.realpath(path))
            roots = [Path(os.path.realpath(root)) for root in self.roots]
        except ValueError:  # a NUL, or a character that no path can have; it is not repeated
            raise SourceError("The path", "is not one", "give the path of a file or a folder") from None
        for root in roots:
            if place.is_relative_to(root):
                return root, place.relative_to(root).parts
        raise SourceError(
            self.shown(path),
            "is not in a folder that jobs read from",
            f"put it into {self.roots[0]}, or have its folder added to FRESHET_INGEST_ROOTS by who runs the service",
        )


ANY_FILES = Files()
"""Any file that the process may read."""


def described(name: str, content: bytes) -> SourceFile:
    """Return the stored description of a file: name, checksum and size."""
    return SourceFile(shown_name(name), sha256(content), len(content))


def too_large(name: str, size: int) -> SourceError:
    """Return the error for a file larger than any data file."""
    return SourceError(
        name,
        f"has {size} bytes, where a file of this kind has less than {LARGEST_FILE}",
        "get it from its publisher again",
    )


def unreadable(path: Path | str, error: OSError) -> SourceError:
    """Return the error for a file or a folder that the system does not let read."""
    return SourceError(str(path), f"cannot be read ({error.strerror})", "check that it exists, and its permissions")


def _open_below(root: Path, parts: tuple[str, ...]) -> int:
    """Open a file along its path below the root, following no link."""
    if not parts:
        return os.open(root, _PLAIN | os.O_NOFOLLOW)
    with ExitStack() as stack:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        for part in parts[:-1]:
            folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            stack.callback(os.close, folder)
        return os.open(parts[-1], _PLAIN | os.O_NOFOLLOW, dir_fd=folder)
