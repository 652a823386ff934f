"""/guide/search: sections of the guide, and operations of the API, that hold all words of a query."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from markupsafe import Markup, escape

from app.guide.pages import GUIDE, INDEX, anchor, pages, parsed
from app.pages.render import page_units, render

MAX_SHOWN = 30
_AROUND = 90
"""Characters of an excerpt before the first word that was found; twice as many follow."""
Asked = Annotated[str, Query(description="Words to look for.", max_length=100)]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page, or an operation of the API."""

    page: str
    heading: str
    address: str
    text: str

    def score(self, words: Sequence[re.Pattern[str]]) -> int:
        """Return how well it answers: 0 where a word is missing; headings count more than texts."""
        places = ((10, self.heading), (4, self.page), (1, self.text))
        scores = [sum(weight for weight, place in places if word.search(place)) for word in words]
        return sum(scores) if all(scores) else 0

    def excerpt(self, words: Sequence[re.Pattern[str]]) -> Markup:
        """Return the text around the first word that was found, with the words marked."""
        found = [match.start() for word in words if (match := word.search(self.text))]
        start = self.text.rfind(" ", 0, max(min(found, default=0) - _AROUND, 0)) + 1
        shown = textwrap.shorten(self.text[start:], 3 * _AROUND, placeholder=" …")
        marked = re.sub("|".join(word.pattern for word in words), "\1\\g<0>\2", shown, flags=re.I)
        text = escape(marked).replace("\1", Markup("<mark>")).replace("\2", Markup("</mark>"))
        return Markup("… ") + text if start else text


@cache  # bounded by the number of files
def sections_of(name: str) -> list[Section]:
    """Return the sections of a page of the guide by its file name."""
    tokens = parsed(name)
    found: list[tuple[str, list[str]]] = []
    is_heading = False
    for token in tokens:
        if token.type == "heading_open":
            is_heading = True
        elif token.type in ("inline", "fence", "code_block"):
            text = token.content if token.children is None else "".join(one.content or " " for one in token.children)
            if is_heading:
                found.append((text, []))
            elif found:
                found[-1][1].append(" ".join(text.split()))
            is_heading = False
    title, path = found[0][0] if found else name, f"{GUIDE}/{name}"
    return [Section(title, heading, f"{path}#{anchor(heading)}", " ".join(texts)) for heading, texts in found]


def operations_of(document: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the operations of an OpenAPI document."""
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            address = f"/docs#{one['operationId']}"
            parameters = " ".join(
                f"{each['name']}: {each.get('description', '')}" for each in one.get("parameters", ())
            )
            text = " ".join(f"{one.get('description', '')} {parameters}".replace("`", "").split())
            yield Section(f"{method.upper()} {path}", one["summary"], address, text)


router = APIRouter(prefix=GUIDE, include_in_schema=False, dependencies=[Depends(page_units)])


@router.get("/search")
def search_guide(request: Request, q: Asked = "") -> Response:
    """Show the sections and operations that hold all words, the best first."""
    words = [re.compile(rf"\b{re.escape(word)}", re.I) for word in q.split()]
    guide = [section for name in pages() if name != INDEX for section in sections_of(name)]
    found = {"Guide": _best(guide, words), "API": _best([*operations_of(request.app.openapi())], words)}
    return render(request, "guide-search.html", q=q, found=found if words else {}, words=words)


def _best(sections: Sequence[Section], words: Sequence[re.Pattern[str]]) -> list[Section]:
    scored = [(section.score(words), section) for section in sections]
    best = sorted((one for one in scored if one[0]), key=lambda one: -one[0])
    return [section for _, section in best[:MAX_SHOWN]]
