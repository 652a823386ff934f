"""/guide: Markdown pages as HTML with working links; a link to what is not here becomes plain text."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markupsafe import Markup

from jobspec.extensions import Extension, extensions

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
from contextlib import suppress

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, Response

from app.pages.render import page_units, render
from hydrology.base.errors import NotFound

FOLDER, DOCS = Path(__file__).with_name("docs"), PurePath("docs")
"""Where the pages of the core are, here and in the repository."""
GUIDE = "/guide"
INDEX = "README"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the guide: its title, its HTML, and whom the index lists it for."""

    title: str
    html: Markup
    audience: str | None

    @property
    def audience_anchor(self) -> str:
        return anchor(self.audience or "")


@cache  # bounded by the number of files
def rendered(name: str) -> Page:
    """Render a page by its file name; HTML within it is shown as text."""
    tokens, folder = parsed(name), pages()[name].parent
    titles = []
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            titles.append("".join(child.content for child in inline.children or []))
            heading.attrSet("id", anchor(titles[-1]))
    for token in tokens:
        _lead(token.children or [], folder)
    html = Markup(_markdown().renderer.render(tokens, _markdown().options, {}))
    return Page(titles[0] if titles else name, html, _audience(name))


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # here: the API starts without it

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def parsed(name: str) -> list["Token"]:
    """Return the parts of a page by its file name."""
    return _markdown().parse(file_at(pages()[name]).read_text(encoding="utf-8"))


def pages() -> dict[str, PurePath]:
    """Return the places of all pages in the repository, those of docs/ before those of extensions, by their names."""
    own = [DOCS / file.relative_to(FOLDER) for file in sorted(FOLDER.rglob("*.md"))]
    others = [_place(one) / file for one in extensions() for file in one.guide if file.endswith(".md")]
    return {place.stem: place for place in (*own, *others)}


def _audience(name: str) -> str | None:
    """Return the heading of the index that a page stands under; None without one."""
    heading = None
    for line in (FOLDER / f"{INDEX}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif f"/{name}.md" in line:
            return heading
    return None


def anchor(title: str) -> str:
    """Return the anchor of a heading, as code forges build it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def file_at(place: PurePath) -> Path:
    """Return the file of the guide at a place of the repository."""
    folders = {_place(extension): extension.folder for extension in extensions() if extension.guide} | {DOCS: FOLDER}
    for root, folder in folders.items():
        if place.is_relative_to(root) and (file := folder / place.relative_to(root)).is_file():
            return file
    raise FileNotFoundError(place)


def _place(extension: Extension) -> PurePath:
    return PurePath(*extension.package.split("."))


def address(link: str, folder: PurePath) -> str | None:
    """Return the guide's address for a page's link; None if it leads elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or link.startswith("#"):
        return link
    target = PurePath(posixpath.normpath(folder / parts.path))
    try:
        file_at(target)
    except FileNotFoundError:
        return None
    path = target.stem if target.suffix == ".md" else target.relative_to(DOCS if DOCS in target.parents else "")
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{GUIDE}{'' if path == INDEX else f'/{path}'}{fragment}"


def _lead(tokens: Sequence["Token"], folder: PurePath) -> None:
    for token in tokens:
        if token.type == "link_open":
            target = address(str(token.attrs["href"]), folder)
            token.attrs = {} if target is None else {"href": target}
        elif token.type == "image":
            token.attrSet("src", str(address(str(token.attrs["src"]), folder)))


router = APIRouter(prefix="/guide", include_in_schema=False, dependencies=[Depends(page_units)])

MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
}
"""Media types of files shown or linked by pages, by suffix."""
_FILE = re.compile(rf"([a-z-]+/){{0,3}}[0-9a-z][0-9a-z_-]{{0,60}}\.({'|'.join(MEDIA_TYPES)})")


class UnknownPage(NotFound):
    """The guide has no page of that name."""


@router.get("")
def read_guide(request: Request) -> Response:
    """Return the index."""
    return read_page(request, INDEX)


@router.get("/{name:path}")
def read_page(request: Request, name: str) -> Response:
    """Return a page, or a file that lies beside the pages."""
    if _FILE.fullmatch(name):
        return _file(name)
    if name not in pages():
        raise _unknown(name)
    return render(request, "guide.html", rendered(name))


def _file(name: str) -> FileResponse:
    for place in (DOCS / name, PurePath(name)):
        with suppress(FileNotFoundError):
            return FileResponse(file_at(place), media_type=MEDIA_TYPES[place.suffix.removeprefix(".")])
    raise _unknown(name)


def _unknown(name: str) -> UnknownPage:
    return UnknownPage(f"The guide has no page {name[:64]!r}: its index, /guide, lists those that it has.")
