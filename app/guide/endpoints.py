"""/guide"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import FileResponse, Response

from app.guide.rendering import FOLDER, INDEX, NAME, rendered
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
FILE = rf"([a-z-]+/){{0,2}}[0-9a-z][0-9a-z_-]{{0,60}}\.({'|'.join(MEDIA_TYPES)})"
"""The pattern of these files' names."""


class UnknownPage(NotFound):
    """The guide has no page of that name."""

    kind = "unknown-page"


@router.get("")
def read_guide(request: Request) -> Response:
    """Return the index."""
    return read_page(request, INDEX)


@router.get("/{name}")
def read_page(request: Request, name: Annotated[str, Path(pattern=f"^({INDEX}|{NAME}|{FILE})$")]) -> Response:
    """Return a page, or a file that lies beside the pages."""
    if "." in name:
        return read_file(name)
    try:
        page = rendered(name)
    except FileNotFoundError:
        raise _unknown(name) from None
    return render(request, "guide.html", page)


@router.get("/{file:path}")
def read_file(file: Annotated[str, Path(pattern=f"^{FILE}$")]) -> FileResponse:
    """Return a file shown or linked by a page."""
    path = FOLDER / file
    if not path.is_file():
        raise _unknown(file)
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix.removeprefix(".")])


def _unknown(name: str) -> UnknownPage:
    return UnknownPage(f"The guide has no page {name!r}: its index, /guide, lists those that it has.")
