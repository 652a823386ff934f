"""/v1/archive"""

import json
import pathlib
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.http.conditional import ASK_ALWAYS, NOT_MODIFIED, SHORTLY, IfNoneMatch, entity_tag, holds
from app.http.problems import NoSuchRange, documented
from extensions.archive import files
from extensions.archive.files import NoArchiveFile
from extensions.archive.schemas import Archive, ArchiveStore
from extensions.archive.settings import ArchiveSettings

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
    with files.opened(folder, path) as file:
        tag = entity_tag(path, file.version)
        lifetime = SHORTLY if files.is_fixed(path) else ASK_ALWAYS
        headers = {"etag": tag, "cache-control": lifetime, "accept-ranges": "bytes"}
        if holds(if_none_match, tag):
            return Response(status_code=304, headers=headers)
        part = file.part(byte_range if if_range in (None, tag) else None)
    if not part.is_whole:
        headers["content-range"] = f"bytes {part.first}-{part.first + len(part.content) - 1}/{part.length}"
    media_type = "application/json" if path.endswith(ROOT) else "application/octet-stream"
    return Response(part.content, 200 if part.is_whole else 206, headers, media_type)
