"""The service answers to its own names, and builds no address from what a client calls it."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from testing.records import a_basin
from tests.app.conftest import bearer, serving

EVIL = "evil.example"


@pytest.fixture
def named(sqlite: str) -> Iterator[TestClient]:
    """A service that is reached by names of its own."""
    with serving(sqlite, allowed_hosts=("rivers.example", "*.rivers.example")) as started:
        yield started


@pytest.mark.parametrize(
    "host",
    [
        EVIL,
        f"{EVIL}:80",
        "localhost.evil.example",
        "",
        "a b",
        "[",
        "me@localhost",
        "localhost:x",
        "localhost/a",
        "\xff",
    ],
)
@pytest.mark.parametrize("path", ["/v1/status", "/docs", "/openapi.json", "/nothing", "/health/live"])
def test_another_hosts_name_is_refused(sqlite_client: TestClient, host: str, path: str) -> None:
    answer = sqlite_client.get(path, headers={b"Host": host.encode("latin-1")})
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/host-not-allowed")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert EVIL not in answer.text


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "api.localhost", "127.0.0.1:8000", "127.8.9.1", "[::1]:8000"]
)
def test_localhost_and_loopback_are_answered(sqlite_client: TestClient, host: str) -> None:
    assert sqlite_client.get("/health/live", headers={"Host": host}).status_code == 200


def test_the_names_of_the_settings_are_answered(named: TestClient) -> None:
    for host in ("rivers.example", "rivers.example:443", "api.rivers.example", "localhost"):
        assert named.get("/health/live", headers={"Host": host}).status_code == 200
    for host in (EVIL, "notrivers.example", "rivers.example.evil.example"):
        assert named.get("/health/live", headers={"Host": host}).status_code == 400


def test_any_name_may_be_allowed(sqlite: str) -> None:
    with serving(sqlite, allowed_hosts=("*",)) as client:
        assert client.get("/health/live", headers={"Host": EVIL}).status_code == 200


def test_no_address_is_built_from_the_host(sqlite: str, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        for number in range(3):
            a_basin(session, f"OWN-{number}")
    with serving(sqlite, allowed_hosts=("*",)) as client:
        client.headers |= bearer(sqlite_database, "admin") | {"Host": EVIL, "X-Forwarded-Host": EVIL}
        answers = [
            client.get("/", follow_redirects=False),
            client.get("/docs"),
            client.get("/openapi.json"),
            client.get("/v1/basins?limit=1"),
            client.get("/v1/basins/"),
            client.get("/v1/basins/01013500"),
            client.post("/v1/jobs", json={"kind": "forecast", "params": {}}),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 200, 404, 202]
    assert answers[3].headers["Link"].startswith("</v1/basins?")
    assert answers[6].headers["Location"].startswith("/v1/jobs/")
    for answer in answers:
        assert EVIL not in answer.text
        assert EVIL not in str(answer.headers)
