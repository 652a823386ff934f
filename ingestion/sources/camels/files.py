"""Find the files of an archive in a folder or in a zip, and read one without unpacking anything to disk."""

import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath

from ingestion.sources.base import SourceError, SourceFile
from ingestion.sources.camels.text import TextFile

# The longest file of the published archive has less than 1 MB. What is far above is a mistake or a bomb.
LARGEST_FILE = 64 * 2**20

_FETCH_AGAIN = "fetch the file again"


@dataclass(frozen=True, slots=True)
class Found:
    """A file of an archive: its name as shown to people, the parts of its path, and how to get its bytes."""

    name: str
    parts: tuple[str, ...]
    load: Callable[[], bytes]

    def read(self) -> TextFile:
        """Return the file as text.

        Raises:
            SourceError: the bytes cannot be read, are damaged, or are no text.
        """
        content = self.load()
        file = SourceFile(self.name, sha256(content).hexdigest(), len(content))
        return TextFile.decode(file, content)


def find(path: Path, wanted: Callable[[str], bool]) -> list[Found]:
    """Return the files under a folder, or in a zip file, whose name (without folders) is wanted, in order.

    Raises:
        SourceError: the path is neither, or the zip is damaged or unsafe.
    """
    if path.is_dir():
        return list(_in_folder(path, wanted))
    if not path.exists():
        raise SourceError(str(path), "there is no such file or folder", "give a path that exists")
    return list(_in_zip(path, wanted))


def _in_folder(folder: Path, wanted: Callable[[str], bool]) -> Iterator[Found]:
    for parent, folders, names in os.walk(folder, onerror=_refuse_folder):
        folders.sort()
        for path in (Path(parent, name) for name in sorted(names) if wanted(name)):
            yield Found(str(path), path.absolute().parts, partial(_read_plain, path))


def _refuse_folder(error: OSError) -> None:
    raise SourceError(str(error.filename), f"cannot be read ({error.strerror})", "check its permissions")


def _read_plain(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size <= LARGEST_FILE:
            return path.read_bytes()
    except OSError as error:
        raise SourceError(str(path), f"cannot be read ({error.strerror})", "check its permissions") from error
    raise _too_large(str(path), size)


def _in_zip(path: Path, wanted: Callable[[str], bool]) -> Iterator[Found]:
    try:
        # Left open for as long as a member may be asked for; it closes itself when the last one is gone.
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise SourceError(
            str(path), f"is not a zip file, or is cut short ({error})", f"{_FETCH_AGAIN} or give a folder"
        ) from error
    except OSError as error:
        raise SourceError(str(path), f"cannot be read ({error.strerror})", "check its permissions") from error
    for member in archive.infolist():
        name = f"{path}!{member.filename}"
        inside = PurePosixPath(member.filename)
        if inside.is_absolute() or ".." in inside.parts or "\\" in member.filename:
            raise SourceError(name, "the member's path leaves the zip", "get the zip from its publisher")
        if member.is_dir() or not wanted(inside.name):
            continue
        if member.flag_bits & 1:
            raise SourceError(name, "the member is encrypted", "pack the files again without a password")
        if member.file_size > LARGEST_FILE:
            raise _too_large(name, member.file_size)
        yield Found(name, inside.parts, partial(_read_member, archive, member, name))


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> bytes:
    try:
        return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise SourceError(name, f"the zip's member is damaged ({error})", _FETCH_AGAIN) from error
    except NotImplementedError as error:
        raise SourceError(
            name, f"the zip's member is packed in an unknown way ({error})", "pack the files again as deflate"
        ) from error


def _too_large(name: str, size: int) -> SourceError:
    return SourceError(
        name,
        f"unpacks to {size} bytes, where a file of this kind has less than {LARGEST_FILE}",
        "get the archive from its publisher",
    )
