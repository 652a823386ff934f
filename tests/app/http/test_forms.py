"""No reader is shown a regular expression, and an address with a slash at its end leads to the one without."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.testclient import TestClient

from hydrology.climatology.volumes import SEASON
from jobspec.fields import BASIN, words_of
from records.database.engine import Database
from runtime.settings import BadSettings, Settings
from tests.app.conftest import bearer
from tests.openapi import document, paths

OWN_SENTENCE = (f"^{BASIN}$", SEASON)
"""Patterns for programs alone: the values are checked by functions, which have sentences of their own."""
REGULAR = re.compile(r"\[\^|[\])]\{|\\[sdwx]|\^[\[(]|\]\*|\(\?")


def patterns(part: Any) -> Iterator[str]:
    """Yield the patterns in a document."""
    for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from patterns(value)
    if isinstance(part, dict) and isinstance(part.get("pattern"), str):
        yield part["pattern"]


def test_every_pattern_has_words() -> None:
    found = {pattern for pattern in patterns(document()) if BASIN not in pattern} - set(OWN_SENTENCE)
    assert len(found) > 10
    for pattern in found:
        words = words_of(pattern)
        assert words is not None, pattern
        assert not REGULAR.search(words)


def test_a_path_that_cannot_be_is_refused_in_words(sqlite_database: Database, sqlite_client: TestClient) -> None:
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    wrong = "a~b c"
    tried = 0
    for path, operations in paths().items():
        for method in operations if "{" in path else ():
            answer = sqlite_client.request(method, re.sub(r"\{\w+\}", wrong, path), json={})
            assert answer.status_code in (400, 404, 422), path
            assert not REGULAR.search(answer.text), answer.text
            tried += 1
    assert tried > 50
    for page in (
        "/basins/a~b",
        "/models/a~b",
        "/jobs?after=a~b",
        "/basins/USGS-01013500/what-if?run=a~b",
        "/problems/A1",
    ):
        assert not REGULAR.search(sqlite_client.get(page).text)
    for query in ("huc=a", "search=%01"):
        assert not REGULAR.search(sqlite_client.get(f"/v1/basins?{query}").text)
    refused = sqlite_client.post("/v1/jobs", json={"kind": "forecast", "params": {"version": "a b"}}).json()
    assert refused["errors"][0]["detail"].startswith("It must be an id of 1 to 64 letters, digits, - or _, such as ")


def test_settings_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("DEVICE", "gpu"), ("SMTP_HOST", "a b"), ("CAP_SENDER", "a,b"), ("USGS_KEY", "a b")):
        with monkeypatch.context() as patch:
            patch.setenv(f"FRESHET_{name}", value)
            with pytest.raises(BadSettings) as refused:
                Settings.load()
        assert f"FRESHET_{name}: it must be " in str(refused.value)
        assert not REGULAR.search(str(refused.value))


def test_what_the_guide_does_not_have_is_reported_in_a_sentence(sqlite_client: TestClient) -> None:
    for name in (
        "nonsense",
        "Nonsense!",
        "..%2Fx",
        "do/..%2f..%2fsettings.py",
        "a" * 300,
        "x.png",
        "a/b/c/d.svg",
    ):
        answer = sqlite_client.get(f"/guide/{name}")
        assert answer.status_code == 404, name
        assert answer.json()["detail"].startswith("The guide has no page ")
        assert not REGULAR.search(answer.text)
    assert sqlite_client.get("/guide/../nothing").status_code == 404


def test_an_address_that_ends_with_a_slash_leads_to_the_one_without(sqlite_client: TestClient) -> None:
    for address in (
        "/guide/",
        "/v1/edr/",
        "/v1/edr/collections/",
        "/v1/basins/",
        "/v1/basins/?limit=1",
        "/docs/",
    ):
        moved = sqlite_client.get(address, follow_redirects=False)
        assert moved.status_code == 308
        assert moved.headers["Location"].startswith("../")
        read = sqlite_client.get(address)
        assert (read.status_code, str(read.url)) == (200, f"http://localhost{re.sub('/+(?=$|[?])', '', address)}")
    assert sqlite_client.get("/").status_code == 200
    assert sqlite_client.get("/nothing/").status_code == 404
    assert sqlite_client.post("/v1/jobs/").status_code == 404
    strange = sqlite_client.get("http://localhost//evil.example/", follow_redirects=False)
    assert strange.headers["Location"] == "../evil.example"


def test_the_document_is_of_its_version() -> None:
    assert document()["openapi"].startswith("3.1.")
    assert [fault.message for fault in OpenAPIV31SpecValidator(document()).iter_errors()] == []
