"""The search of the guide and the API: sections and operations that hold every word, the best first."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.guide.pages import pages
from tests.app.conftest import serving
from tests.guide.pages import PAGES

HIT = re.compile(r'<li><a href="([^"]+)">(.*?)</a>')


@pytest.fixture(scope="module")
def client(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    file = tmp_path_factory.mktemp("search") / "freshet.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    with serving(f"sqlite:///{file}") as started:
        yield started


def hits(client: TestClient, query: str) -> list[str]:
    answer = client.get("/guide/search", params={"q": query})
    assert answer.status_code == 200
    return [unescape(address) for address, _ in HIT.findall(answer.text)]


def test_headings_come_first_and_each_hit_leads_to_its_section(client: TestClient) -> None:
    found = hits(client, "LIKELY possible")
    assert found[0] == "/guide/reading#likely-and-possible"
    for address in (one for one in found if one.startswith("/guide")):
        page, _, anchor = address.partition("#")
        assert f'id="{anchor}"' in client.get(page).text, address


def test_operations_of_the_api_are_found_by_their_words_and_parameters(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    addresses = {f"/docs#{one['operationId']}" for path in document["paths"].values() for one in path.values()}
    found = [one for one in hits(client, "alert history basin") if one.startswith("/docs")]
    assert found[0] == "/docs#list_alert_changes"
    assert set(found) <= addresses


def test_every_page_can_be_found() -> None:
    assert sorted(pages()) == sorted(page.stem for page in PAGES)


@pytest.mark.parametrize("query", ["", "   ", "zebra crossing", '"><script>', "("])
def test_what_is_found_nowhere_is_answered_and_nothing_of_a_query_is_run(client: TestClient, query: str) -> None:
    answer = client.get("/guide/search", params={"q": query})
    assert answer.status_code == 200
    assert "<script>" not in answer.text
    assert ("Nothing here has every word" in answer.text) == (len(query) > 3)


def test_each_page_names_its_readers_and_leads_to_how_a_forecast_is_read(client: TestClient) -> None:
    for page, audience in (("reading", "water managers"), ("deployment", "operators"), ("walk", "programs")):
        text = client.get(f"/guide/{page}").text
        assert f">For {audience}</a>" in text
        assert 'href="/guide/reading"' in text
