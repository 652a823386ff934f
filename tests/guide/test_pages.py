"""The guide: every link leads somewhere, in the repository and under /guide; what is generated is current."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from app.guide.pages import anchor, rendered
from tests.app.conftest import serving
from tests.guide.pages import DOCS, PAGES, ROOT
from tests.guide.reference import pages


@pytest.fixture(scope="module")
def client(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    file = tmp_path_factory.mktemp("guide") / "freshet.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    with serving(f"sqlite:///{file}") as started:
        yield started


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_every_link_leads_somewhere_in_the_repository(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", _without_code(page.read_text(encoding="utf-8"))):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / parts.path).resolve() if parts.path else page
        assert target.is_file(), link
        if parts.fragment:
            assert parts.fragment in _anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere_in_the_guide(client: TestClient, page: Path) -> None:
    address = "/guide" if page.stem == "README" else f"/guide/{page.stem}"
    answer = client.get(address)
    assert answer.status_code == 200
    _, _, article = answer.text.partition('<article class="guide">')
    for link in re.findall(r'(?:href|src)="([^"]+)"', article.partition("</article>")[0]):
        parts = urlsplit(unescape(link))
        if parts.scheme:
            continue
        target = client.get(parts.path or address)
        assert target.status_code == 200, link
        if parts.fragment:
            assert f'id="{parts.fragment}"' in target.text, link


def test_every_page_stands_in_the_index_once() -> None:
    index = re.findall(r"\]\((?:\.\./)?(?:[a-z_-]+/)+([a-z-]+)\.md\)", (DOCS / "README.md").read_text(encoding="utf-8"))
    listed = [name for name in index if name != "glossary"]
    assert sorted(set(listed)) == sorted({page.stem for page in PAGES} - {"README", "glossary"})
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", pages())
def test_generated_pages_are_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == pages()[name], "run python -m tests.guide.reference"


def test_html_of_a_page_is_shown_and_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("# Guide\n")
    (tmp_path / "page.md").write_text("# A page\n\n<script>alert(1)</script> [x](javascript:alert(1))\n")
    monkeypatch.setattr("app.guide.pages.FOLDER", tmp_path)
    page = rendered.__wrapped__("page")
    assert page.title == "A page"
    assert "<script>" not in page.html
    assert 'href="javascript' not in page.html


@pytest.mark.parametrize("address", ["/guide/nothing", "/guide/..%2Fpyproject", "/guide/pictures/none.svg"])
def test_a_page_that_is_not_there_is_a_problem(client: TestClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code in (404, 422)
    assert answer.headers["Content-Type"] == "application/problem+json"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _without_code(page.read_text(encoding="utf-8")), re.M)
    return {anchor(re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading)) for heading in headings}


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
