"""Every page as it is sent: whole, under a policy that lets nothing foreign in, and closed where it needs a key."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from testing.country import BASINS
from tests.e2e.conftest import Api
from tests.e2e.paths import keyed_paths, open_paths

MAX_ANSWERS, MAX_BYTES = 6, 250_000


@pytest.fixture
def client(reading_api: Api) -> Iterator[httpx2.Client]:
    """A client of the service."""
    with httpx2.Client(base_url=reading_api.address, trust_env=False, timeout=60) as client:
        yield client


@pytest.mark.extended
def test_every_page_is_whole_and_lets_nothing_foreign_in(reading_api: Api, client: httpx2.Client) -> None:
    header = {"Authorization": f"Bearer {reading_api.stored.token}"}
    for path in [*open_paths(reading_api.stored), *keyed_paths(reading_api.stored)]:
        answer = client.get(path, headers=header)
        assert answer.status_code == 200, path
        assert answer.text.rstrip().endswith("</html>")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"<script(?![^>]*(src|application/json))|<style|\sstyle=|\son[a-z]+=", answer.text), path
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', answer.text), path


def test_files_of_a_page_may_be_cached_for_ever(client: httpx2.Client) -> None:
    page = client.get(f"/basins/{BASINS[0]}").text
    assets = re.findall(r'(?:src|href)="([^"]*/static/[^"]+)"', page)
    assert len(assets) >= 4
    for asset in assets:
        answer = client.get(asset)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert "immutable" not in client.get(asset.partition("?")[0]).headers.get("Cache-Control", "")


def test_a_page_with_all_that_it_loads_is_small(client: httpx2.Client) -> None:
    for path in ("/", f"/basins/{BASINS[0]}"):
        page = client.get(path)
        answers = [
            page,
            *(client.get(asset) for asset in re.findall(r'(?:src|href)="([^"]*/static/[^"]+)"', page.text)),
        ]
        assert len(answers) <= MAX_ANSWERS, path
        assert sum(answer.num_bytes_downloaded for answer in answers) <= MAX_BYTES, path


def test_pages_that_need_a_key_ask_for_it_and_show_nothing_else(reading_api: Api, client: httpx2.Client) -> None:
    for path in keyed_paths(reading_api.stored):
        for header in ({}, {"Authorization": "Bearer freshet_0_no"}):
            answer = client.get(path, headers=header)
            assert answer.status_code == 401, path
            assert "This page needs " in answer.text
            assert reading_api.stored.feed not in answer.text


@pytest.mark.parametrize("path", ["/basins/..%2f..%2fetc", "/basins/%3Cscript%3E", "/?colour=red", "/?color=skill"])
def test_a_wrong_address_is_reported_as_a_page_that_quotes_nothing_live(client: httpx2.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert "<script>" not in answer.text.replace('<script src="', "")


def test_only_static_files_are_served_as_static(client: httpx2.Client) -> None:
    for path in ("/static/../app/main.py", "/static/%2e%2e/render.py", "/static/", "/static/templates/day.html"):
        assert client.get(path, follow_redirects=True).status_code == 404
