"""A key is asked for before a body is read; what depends on it varies by it; what decides stands once."""

import re
from collections.abc import Iterator

from starlette.testclient import TestClient
from starlette.types import Message

from app.http.error_answers import MAX_FAULTS
from app.http.limits.body_limit import MAX_COMMAS
from app.http.limits.single_headers import SINGLE
from records.database.engine import Database
from tests.app.conftest import bearer
from tests.openapi import paths

ADMINS = {"create_schedule", "replace_schedule", "delete_schedule"}


def keyed(reading: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the method, path and name of each operation that needs a key."""
    for path, operations in paths().items():
        for method, operation in operations.items():
            if "security" in operation and (method == "get") is reading:
                yield method.upper(), re.sub(r"\{\w+\}", "a1", path), operation["operationId"]


def answer_without_body(
    client: TestClient, method: str, path: str, headers: dict[str, str]
) -> tuple[int, dict[str, str]]:
    """Send a request whose body must not be read, and return the status and headers of the answer."""
    started: list[Message] = []
    sent = {"host": "localhost", "content-type": "application/json", "content-length": "100", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "state": {},
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
    }

    async def receive() -> Message:
        raise AssertionError(f"The body of {method} {path} was read.")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)

    client.portal.call(lambda: client.app(scope, receive, send))  # type: ignore[union-attr]
    (start,) = started
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}


def test_no_body_is_read_before_the_key_is_known(sqlite_database: Database, sqlite_client: TestClient) -> None:
    operations = list(keyed(reading=False))
    assert len(operations) > 20
    operator = bearer(sqlite_database)
    needs_more = 0
    for method, path, name in operations:
        for header in ({}, {"Authorization": "Bearer freshet_wrong"}, {"Authorization": "Basic YTpi"}):
            status, headers = answer_without_body(sqlite_client, method, path, header)
            assert status in (401, 429), name
            assert "Authorization" in headers["vary"], name
        if name in ADMINS:
            assert answer_without_body(sqlite_client, method, path, operator)[0] == 403
            needs_more += 1
    assert needs_more == len(ADMINS)
    writing = {(method, path) for path, ops in paths().items() for method in ops if method != "get"}
    assert len(writing) == len(operations)  # every operation that writes needs a key


def test_every_answer_that_depends_on_the_key_varies_by_it(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    operations = list(keyed(reading=True))
    assert ("GET", "/v1/jobs/a1", "read_job") in operations
    header = bearer(sqlite_database, "admin")
    for _, path, name in operations:
        for headers in ({}, header):
            answer = sqlite_client.get(path, headers=headers)
            vary = [part.strip() for part in answer.headers["Vary"].split(",")]
            assert vary.count("Authorization") == 1, (name, answer.status_code)
    posted = sqlite_client.post("/v1/jobs", json={"kind": "forecast", "params": {}}, headers=header)
    for answer in (posted, sqlite_client.get(posted.headers["Location"], headers=header)):
        assert answer.status_code in (200, 202)
        assert "Authorization" in answer.headers["Vary"]
    assert "Authorization" not in sqlite_client.get("/v1/basins").headers.get("Vary", "")


def test_a_header_that_decides_may_stand_once(sqlite_database: Database, sqlite_client: TestClient) -> None:
    token = bearer(sqlite_database)["Authorization"]
    for name in SINGLE:
        for first, second in (("1", "1"), ("1", "2")):
            answer = sqlite_client.get("/v1/jobs", headers=[(name, first), (name.lower(), second)])
            assert (answer.status_code, answer.json()["type"]) == (400, "/problems/repeated-header"), name
            assert answer.json()["detail"].startswith(f"The header {name} was sent more than once")
    twice = sqlite_client.get("/v1/jobs", headers=[("Authorization", token), ("Authorization", "Bearer other")])
    assert twice.status_code == 400
    assert token not in twice.text
    several = sqlite_client.get("/v1/jobs", headers=[("Authorization", token), ("Accept", "a/b"), ("Accept", "*/*")])
    assert several.status_code == 200


def test_what_is_wrong_in_thousands_of_places_is_described_in_some(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    many = {f"field{number}": 0 for number in range(MAX_COMMAS - 100)}
    for address, body in (
        ("/v1/jobs", {"kind": "forecast", "params": many}),
        ("/v1/basins", {"basin": "OWN-mill", **many}),
        ("/v1/schedules", {"name": "a", "cron": "0 6 * * *", "job": {"kind": "forecast", "params": many}}),
    ):
        answer = sqlite_client.post(address, json=body)
        assert answer.status_code == 422
        assert 0 < len(answer.json()["errors"]) <= MAX_FAULTS
        assert len(answer.content) < 10_000
    static = {
        "inputs": {"product": "daymet", "static": [1] * (MAX_COMMAS + 2)},
        "train_period": "never",
    }
    answer = sqlite_client.post("/v1/jobs", json={"kind": "training", "params": {"config": static}})
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
    assert f"more than {MAX_COMMAS} values" in answer.json()["detail"]
