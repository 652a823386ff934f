"""Renders the guide's Markdown pages as HTML, with working links."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it.token import Token

FOLDER = Path(__file__).with_name("docs")
GUIDE = "/guide"
INDEX = "README"
NAME = "[a-z][a-z-]{0,40}"
"""The pattern of pages' names; the index has none."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the guide: its title, and its HTML."""

    title: str
    html: Markup


@cache  # bounded by the number of files
def rendered(name: str) -> Page:
    """Render a page of docs/ by its file name; HTML within it is shown as text.

    Raises:
        FileNotFoundError: there is none.
    """
    from markdown_it import MarkdownIt  # here: the API starts without it

    file = page_file(name)
    text = file.read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    titles = [_mark(heading, inline) for heading, inline in _headings(tokens)]
    for token in tokens:
        _lead(token.children or [], file.parent.relative_to(FOLDER))
    return Page(titles[0] if titles else name, Markup(markdown.renderer.render(tokens, markdown.options, {})))


def anchor(title: str) -> str:
    """Return the anchor of a heading, as code forges build it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page_file(name: str) -> Path:
    """Return the file of a page, in any folder of docs/.

    Raises:
        FileNotFoundError: no page has that name.
    """
    file = next(FOLDER.rglob(f"{name}.md"), None)
    if file is None:
        raise FileNotFoundError(name)
    return file


def address(link: str, folder: PurePath) -> str | None:
    """Return the guide's address for a link; None if it leaves docs/.

    Args:
        folder: the page's, within docs/.
    """
    parts = urlsplit(link)
    if parts.scheme or link.startswith("#"):
        return link
    target = posixpath.normpath(folder / parts.path)
    if target.startswith(".."):
        return None
    path = PurePath(target).stem if target.endswith(".md") else target
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{GUIDE}{'' if path == INDEX else f'/{path}'}{fragment}"


def _headings(tokens: Sequence["Token"]) -> Iterator[tuple["Token", "Token"]]:
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            yield token, following


def _mark(heading: "Token", inline: "Token") -> str:
    """Give a heading its anchor, and return its text."""
    title = "".join(child.content for child in inline.children or [])
    heading.attrSet("id", anchor(title))
    return title


def _lead(tokens: Sequence["Token"], folder: PurePath) -> None:
    """Point links and pictures to the guide; links to other files become plain text."""
    for token in tokens:
        if token.type == "link_open":
            target = address(str(token.attrs["href"]), folder)
            token.attrs = {} if target is None else {"href": target}
        elif token.type == "image":
            token.attrSet("src", str(address(str(token.attrs["src"]), folder)))
