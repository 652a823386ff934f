"""Finds files of an archive in a folder or zip, and reads them without unpacking to disk."""

import lzma
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath
from weakref import finalize

from ingestion.base import LARGEST_FILE, Files, SourceError, SourceFile, described, too_large

MAX_FILES = 200_000
"""Maximum number of files and folders in one folder or zip; Caravan has some 50 000."""
DEEPEST = 40
LARGEST_DIRECTORY = 32 * 2**20
"""Bytes of the list of members at the end of a zip: room for MAX_FILES members, at some 150 bytes each."""

ONE_COPY = "leave only one of them in the paths given"
_FETCH_AGAIN = "fetch the file again"
_FROM_PUBLISHER = "get the archive from its publisher"
# bzip2 unpacks a few bytes to gigabytes before they can be checked; these give less than 32 MiB per piece.
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)
_PIECE = 4096
_PACKED = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar")
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file of an archive. Its name for display, the parts of its path, and a reader of its bytes."""

    name: str
    parts: tuple[str, ...]
    load: Callable[[], tuple[SourceFile, bytes]]


def read_once(copies: Sequence[ArchiveFile]) -> tuple[SourceFile, bytes]:
    """Return the description and bytes of a file, whose copies must agree."""
    first, *others = (copy.load() for copy in copies)
    for other, _ in others:
        if other.sha256 != first[0].sha256:
            raise SourceError(other.name, f"differs from {first[0].name}, of the same content by name", ONE_COPY)
    return first


def find(path: Path, wanted: Callable[[str], object], files: Files) -> list[ArchiveFile]:
    """Return the files in a folder or zip whose name (without folders) is wanted, in order.

    A damaged or unsafe zip, or too many files, are refused.
    """
    path = files.locate(path)
    if path.is_dir():
        return list(_in_folder(path, wanted, files))
    if not path.exists():
        raise SourceError(str(path), "there is no such file or folder", "give a path that exists")
    return list(_in_zip(path, wanted, files))


def refuse_packed(path: Path, files: Files) -> None:
    """Refuse a folder or zip that contains archives. Nested archives are not opened."""
    path = files.locate(path)
    if path.is_dir():
        within = [file.name for file in _in_folder(path, _is_packed, files)]
        remedy = "give it by its own path if it is a zip, or unpack it"
    else:
        within = [f"{path}!{name}" for name in _opened(path, files).namelist() if _is_packed(name)]
        remedy = f"unpack {path.name} once, and give the folder or the zip that comes out"
    if within:
        raise SourceError(within[0], "is an archive within what was given, and is not opened", remedy)


def _is_packed(name: str) -> bool:
    return name.lower().endswith(_PACKED)


def _in_folder(folder: Path, wanted: Callable[[str], object], files: Files) -> Iterator[ArchiveFile]:
    def refuse(error: OSError) -> None:
        raise SourceError(str(error.filename), f"cannot be read ({error.strerror})", "check its permissions")

    count = 0
    for parent, folders, names in os.walk(folder, onerror=refuse):
        count += len(folders) + len(names)
        if count > MAX_FILES:
            raise SourceError(str(folder), f"has more than {MAX_FILES} files and folders", "name a folder within it")
        if len(Path(parent).relative_to(folder).parts) > DEEPEST:
            raise SourceError(str(folder), f"has folders in more than {DEEPEST} levels", "name a folder within it")
        folders.sort()
        for path in (Path(parent, name) for name in sorted(names) if wanted(name)):
            yield ArchiveFile(str(path), path.absolute().parts, partial(files.read, path))


class _Archive(BufferedReader):
    """The bytes of a zip, without reads large enough to fill the memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as usual; the list of members, which is read at once, is limited in size."""
        if size is not None and size > LARGEST_DIRECTORY:
            raise zipfile.BadZipFile("its list of members is too long")
        return super().read(size)


def _in_zip(path: Path, wanted: Callable[[str], object], files: Files) -> Iterator[ArchiveFile]:
    archive = _opened(path, files)
    members = archive.infolist()
    if len(members) > MAX_FILES:
        raise SourceError(str(path), f"has more than {MAX_FILES} members", _FROM_PUBLISHER)
    for member in members:
        name = f"{path}!{member.filename}"
        inside = PurePosixPath(member.filename)
        if inside.is_absolute() or ".." in inside.parts or "\\" in member.filename:
            raise SourceError(name, "the member's path leaves the zip", _FROM_PUBLISHER)
        if member.filename.endswith("/") or not wanted(inside.name):
            continue
        _check_member(member, name)
        yield ArchiveFile(name, inside.parts, partial(_read_member, archive, member, name, files))


def _opened(path: Path, files: Files) -> zipfile.ZipFile:
    stream = _Archive(files.open(path).detach())
    try:
        archive = zipfile.ZipFile(stream)
    except _DAMAGE as error:
        stream.close()
        raise SourceError(
            str(path), "is not a zip file, or is cut short or damaged", f"{_FETCH_AGAIN} or give a folder"
        ) from error
    # Left open as long as a member may be read.
    finalize(archive, stream.close)
    return archive


def _check_member(member: zipfile.ZipInfo, name: str) -> None:
    if stat.S_ISLNK(member.external_attr >> 16):
        raise SourceError(name, "the member is a symbolic link", "pack the file itself")
    if member.flag_bits & 1:
        raise SourceError(name, "the member is encrypted", "pack the files again without a password")
    if member.compress_type not in _PACKINGS:
        raise SourceError(name, "the member is packed in a way that is not read here", "pack the files as deflate")
    if member.file_size > LARGEST_FILE:
        raise too_large(name, member.file_size)


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, files: Files
) -> tuple[SourceFile, bytes]:
    files.on_file(name)
    content = bytearray()
    try:
        with archive.open(member) as file:
            # In pieces, because a member may unpack to more than its stated size.
            while piece := file.read(_PIECE):
                content += piece
                if len(content) > LARGEST_FILE:
                    raise too_large(name, len(content))
    except _DAMAGE as error:
        raise SourceError(name, "the zip's member is damaged", _FETCH_AGAIN) from error
    return described(name, bytes(content)), bytes(content)
