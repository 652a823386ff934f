"""/v1/archive: files of the archive, each from one opened file, whole or a range of its bytes."""

import json
import os
import pathlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Response
from pydantic import Field

from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import Model
from app.http.conditional import ASK_ALWAYS, NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.entity_tags import entity_tag, holds
from app.http.problems import NoSuchRange, documented
from extensions.archive.layout import WITH_MEMBERS
from extensions.archive.settings import ArchiveSettings
from hydrology.base.errors import NotFound


class ArchiveStore(Model):
    """A store of the archive."""

    name: str = Field(examples=["forecasts.zarr"])
    href: str = Field(description="Where it begins.", examples=["/v1/archive/forecasts.zarr"])
    title: str
    issues: int = Field(description="Number of runs in it.")
    basins: int = Field(description="Number of basins in it.")
    has_members: bool = Field(description="Whether it has every member, besides the quantiles.")


class Archive(Model):
    """The stores of the archive."""

    stores: list[ArchiveStore]


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
    """Bytes of a file from position `first`; `length` is that of the whole file."""

    content: bytes
    first: int
    length: int

    @property
    def is_whole(self) -> bool:
        return len(self.content) == self.length


class ArchiveFile:
    """An opened file: its bytes are those of its version, even if another takes its place."""

    def __init__(self, opened: BinaryIO) -> None:
        about = os.fstat(opened.fileno())
        self._opened, self._length = opened, about.st_size
        self.version = [about.st_mtime_ns, about.st_size, about.st_ino]

    def part(self, byte_range: str | None) -> ByteRange:
        """Read it, or a range of it [RFC 9110, section 14]; a range of another form is ignored."""
        first, end = _bounds(byte_range, self._length)
        self._opened.seek(first)
        return ByteRange(self._opened.read(end - first), first, self._length)


@contextmanager
def open_file(folder: pathlib.Path | None, path: str) -> Iterator[ArchiveFile]:
    """Open a file below a folder; refuse a path that leads out."""
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


router = APIRouter(prefix="/archive", tags=["forecasts"])

ROOT = "zarr.json"


async def _folder() -> pathlib.Path | None:
    return ArchiveSettings.load().archive


# The folder of the archive, where the service has one.
ServedFolder = Annotated[pathlib.Path | None, Depends(_folder)]
_BYTES = {"schema": {"type": "string", "format": "binary"}}


@router.get("", summary="List the stores of the archive", **documented_responses(Archive))
def read_archive(folder: ServedFolder, answer: JsonAnswer) -> Response:
    """Zarr stores with all issued forecasts and reforecasts, by basin, issue, lead time and quantile. None where the
    service has no archive. Open one in Python with `xarray.open_zarr("https://…/v1/archive/forecasts.zarr")`."""
    roots = [] if folder is None else sorted(folder.glob(f"*.zarr/{ROOT}"))
    found = {root.parent.name: json.loads(root.read_bytes()).get("attributes", {}) for root in roots}
    stores = [_store(name, attributes) for name, attributes in found.items() if "freshet_layout" in attributes]
    return answer.of(Archive(stores=stores))


def _store(name: str, attributes: dict[str, Any]) -> ArchiveStore:
    return ArchiveStore(
        name=name,
        href=f"/v1/archive/{quote(name)}",
        title=attributes["title"],
        issues=attributes["issues"],
        basins=attributes["basins"],
        has_members=attributes["freshet_members"],
    )


@router.get(
    "/{path:path}",
    summary="A file of the archive",
    response_class=Response,
    responses=NOT_MODIFIED
    | documented(NoArchiveFile, NoSuchRange)
    | {200: {"content": {"application/octet-stream": _BYTES, "application/json": {"schema": {"type": "object"}}}}}
    | {206: {"description": "The range of its bytes.", "content": {"application/octet-stream": _BYTES}}},
)
def read_archive_file(
    folder: ServedFolder,
    path: Annotated[
        str,
        Path(
            description="A file of a Zarr store: `zarr.json`, or a chunk.",
            max_length=400,
            examples=["forecasts.zarr/zarr.json"],
        ),
    ],
    byte_range: Annotated[str | None, Header(alias="range", description="A range of bytes: `bytes=0-99`.")] = None,
    if_none_match: IfNoneMatch = None,
    if_range: Annotated[
        str | None,
        Header(description="The ETag of the copy that the range is for; of another, the whole file is the answer."),
    ] = None,
) -> Response:
    """For libraries that read Zarr version 3. `zarr.json` of a store is replaced when an issue is appended: what it
    describes is always whole, and what it leads to stays readable. A chunk that is not there is missing throughout.
    Values of an issue never change; all other files grow, so a cache asks each time whether its copy is the same."""
    with open_file(folder, path) as file:
        tag = entity_tag(path, file.version)
        lifetime = SHORTLY if is_fixed(path) else ASK_ALWAYS
        headers = {"etag": tag, "cache-control": lifetime, "accept-ranges": "bytes"}
        if holds(if_none_match, tag):
            return Response(status_code=304, headers=headers)
        part = file.part(byte_range if if_range in (None, tag) else None)
    if not part.is_whole:
        headers["content-range"] = f"bytes {part.first}-{part.first + len(part.content) - 1}/{part.length}"
    media_type = "application/json" if path.endswith(ROOT) else "application/octet-stream"
    return Response(part.content, 200 if part.is_whole else 206, headers, media_type)
