"""/guide"""

import re
from contextlib import suppress
from pathlib import PurePath

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from app.guide.rendering import DOCS, INDEX, NAME, file_at, rendered
from app.pages.render import render
from hydrology.base.errors import NotFound

router = APIRouter(prefix="/guide", include_in_schema=False)

MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
}
"""Media types of files shown or linked by pages, by suffix."""
_FILE = re.compile(rf"([a-z-]+/){{0,3}}[0-9a-z][0-9a-z_-]{{0,60}}\.({'|'.join(MEDIA_TYPES)})")
_PAGE = re.compile(f"{INDEX}|{NAME}")


class UnknownPage(NotFound):
    """The guide has no page of that name."""

    kind = "unknown-page"


@router.get("")
def read_guide(request: Request) -> Response:
    """Return the index."""
    return read_page(request, INDEX)


@router.get("/{name:path}")
def read_page(request: Request, name: str) -> Response:
    """Return a page, or a file that lies beside the pages."""
    if _FILE.fullmatch(name):
        return _file(name)
    if not _PAGE.fullmatch(name):
        raise _unknown(name)
    try:
        page = rendered(name)
    except FileNotFoundError:
        raise _unknown(name) from None
    return render(request, "guide.html", page)


def _file(name: str) -> FileResponse:
    """Return a file shown or linked by a page."""
    for place in (DOCS / name, PurePath(name)):
        with suppress(FileNotFoundError):
            return FileResponse(file_at(place), media_type=MEDIA_TYPES[place.suffix.removeprefix(".")])
    raise _unknown(name)


def _unknown(name: str) -> UnknownPage:
    return UnknownPage(f"The guide has no page {name[:64]!r}: its index, /guide, lists those that it has.")
