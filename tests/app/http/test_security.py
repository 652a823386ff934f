"""Who may write, who may read, and how much is taken."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import structlog.testing
from starlette.testclient import TestClient

from app.http.limits.body_limit import LARGEST_BODY
from records.access import keys
from records.database.engine import Database
from records.jobs import jobs
from tests.app.conftest import bearer, serving

FORECAST = {"kind": "forecast", "params": {}}
WRITES = [
    ("POST", "/v1/jobs"),
    ("POST", "/v1/jobs/some/cancel"),
    ("POST", "/v1/schedules"),
    ("PUT", "/v1/schedules/some"),
    ("DELETE", "/v1/schedules/some"),
    ("PUT", "/v1/basins/OWN-mill"),
    ("POST", "/v1/basins/observations"),
    ("PUT", "/v1/basins/OWN-mill/thresholds/bankfull"),
    ("DELETE", "/v1/basins/OWN-mill/thresholds/bankfull"),
    ("POST", "/v1/weather"),
    ("POST", "/v1/subscriptions"),
    ("PATCH", "/v1/subscriptions/some"),
    ("DELETE", "/v1/subscriptions/some"),
    ("POST", "/v1/subscriptions/some/rotate"),
    ("POST", "/v1/subscriptions/some/resume"),
    ("POST", "/v1/deliveries/some/replay"),
    ("PUT", "/v1/models/some/promotion"),
]
ADMIN_WRITES = [one for one in WRITES if "schedules" in one[1] or "promotion" in one[1]]


@pytest.fixture
def closed(sqlite: str) -> Iterator[TestClient]:
    """A service that answers nothing without a key."""
    with serving(sqlite, read_needs_key=True) as started:
        yield started


@pytest.mark.parametrize(("method", "address"), WRITES)
@pytest.mark.parametrize("header", [None, "Bearer nonsense", "Bearer freshet_0_0", "Basic YTpi", "Bearer \xff"])
def test_writing_without_a_key_is_refused(
    sqlite_client: TestClient, method: str, address: str, header: str | None
) -> None:
    headers = {} if header is None else {b"Authorization": header.encode("latin-1")}
    answer = sqlite_client.request(method, address, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/key-needed")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "freshet keys make" in answer.json()["detail"]
    assert "nonsense" not in answer.text


@pytest.mark.parametrize(("method", "address"), ADMIN_WRITES)
def test_an_operator_is_not_an_admin(
    sqlite_database: Database, sqlite_client: TestClient, method: str, address: str
) -> None:
    answer = sqlite_client.request(method, address, headers=bearer(sqlite_database))
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/scope-too-small")
    assert "--scope admin" in answer.json()["detail"]


def test_an_admin_may_do_what_an_operator_may(sqlite_database: Database, sqlite_client: TestClient) -> None:
    answer = sqlite_client.post("/v1/jobs", json=FORECAST, headers=bearer(sqlite_database, "admin"))
    assert answer.status_code == 202


def test_a_revoked_or_expired_key_opens_nothing(sqlite_database: Database, sqlite_client: TestClient) -> None:
    now = datetime.now(UTC)
    with sqlite_database.transaction() as session:
        expired = keys.make(session, "old", "admin", now - timedelta(hours=1), now - timedelta(hours=2))[1]
        key, revoked = keys.make(session, "lost", "admin", None, now)
        keys.revoke(session, key.id, now)
    for token in (expired, revoked):
        answer = sqlite_client.post("/v1/jobs", json=FORECAST, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
        assert token not in answer.text


def test_a_refused_key_is_logged_without_any_part_of_it(sqlite_database: Database, sqlite_client: TestClient) -> None:
    good = bearer(sqlite_database)["Authorization"].removeprefix("Bearer ")
    guess = good[:-4] + "AAAA"
    unknown = f"freshet_{'0' * 22}_{good[-43:]}"
    with structlog.testing.capture_logs() as logs:
        for token in ("another-services-password", unknown, guess):
            assert sqlite_client.get("/v1/jobs", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    refused = [entry for entry in logs if entry["event"] == "key.refused"]
    assert [(entry["reason"], entry["path"], entry["address"]) for entry in refused] == [
        ("malformed", "/v1/jobs", "testclient"),
        ("unknown", "/v1/jobs", "testclient"),
        ("unknown", "/v1/jobs", "testclient"),
    ]
    written = str(logs)
    for part in ("another", "password", good[8:30], good[-43:-4], "0" * 22):
        assert part not in written


def test_a_token_in_the_address_is_not_taken(sqlite_database: Database, sqlite_client: TestClient) -> None:
    token = bearer(sqlite_database)["Authorization"].removeprefix("Bearer ")
    assert sqlite_client.post("/v1/jobs", json=FORECAST, params={"key": token}).status_code in (401, 422)
    with sqlite_database.reading() as session:
        assert jobs.list_jobs(session) == []


def test_a_closed_service_reports_nothing_without_a_key(sqlite_database: Database, closed: TestClient) -> None:
    header = bearer(sqlite_database)
    paths = closed.get("/openapi.json").json()["paths"]
    for path in ("/v1/basins", "/v1/status", "/v1/jobs", "/v1/models"):
        assert closed.get(path).status_code == 401
        assert closed.get(path, headers=header).status_code == 200
        assert {"401", "422"} <= set(paths[path]["get"]["responses"])
        assert paths[path]["get"]["security"] == [{"key": []}]
    for path in ("/health/ready", "/docs", "/guide", "/problems/key-needed"):
        assert closed.get(path).status_code == 200


def test_no_shared_cache_stores_an_answer_that_needed_a_key(sqlite_database: Database, closed: TestClient) -> None:
    header = bearer(sqlite_database)
    closed.put("/v1/basins/OWN-mill", headers=header, json={**PLACE, "name": "Mill"})
    first = closed.get("/v1/basins/OWN-mill", headers=header)
    again = closed.get("/v1/basins/OWN-mill", headers=header | {"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    for answer in (first, again):
        assert "private" in answer.headers["Cache-Control"]
        assert "public" not in answer.headers["Cache-Control"]


PLACE = {"latitude": 44.0, "longitude": -115.0, "area_km2": 118.4}


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_body_that_is_too_large_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, chunked: bool, method: str
) -> None:
    body = b" " * (LARGEST_BODY + 1)
    content = (body[at : at + 100_000] for at in range(0, len(body), 100_000)) if chunked else body
    headers = bearer(sqlite_database) | {"Content-Type": "application/json"}
    answer = sqlite_client.request(method, "/v1/jobs", content=content, headers=headers)
    if chunked and method == "GET":
        assert answer.status_code == 200  # nobody reads it
    else:
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
        assert str(LARGEST_BODY) in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"[]",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"kind": "forecast", "params": {"horizon": NaN}}',
        b'{"kind": "forecast", "params": {"horizon": 1e999}}',
        b'{"kind": "forecast", "params": {"horizon": ' + b"9" * 6000 + b"}}",
        b'{"kind": "forecast", "params": {"\\ud800": 1}}',
        b'{"kind": "forecast", "params": {"version": "\\u0000"}}',
        b'{"kind": "forecast", "params": {"product": "\\ud800"}}',
        b'{"kind": "forecast", "params": {"surprise": 1}}',
        b'{"kind": "forecast", "params": {}, "surprise": 1}',
        b'{"kind": "member", "params": {"training": "x", "member": 0}}',
        b'{"kind": "training", "params": {"config": {"inputs": {"product": "x"}, "train_period": "1999"}}}',
        b'{"kind": "training", "params": {"config": {"inputs": {"product": "x"}, "clip_norm": Infinity}}}',
        b'{"kind": "ingest", "params": {"from": []}}',
        b'{"kind": "ingest", "params": {"from": ["https://me:secret@host/camels"]}}',
        b'{"kind": "ingest", "params": {"from": ["https://[host/camels"]}}',
    ],
)
def test_a_body_that_cannot_be_used_is_refused(
    sqlite_database: Database, sqlite_client: TestClient, body: bytes
) -> None:
    headers = bearer(sqlite_database) | {"Content-Type": "application/json"}
    answer = sqlite_client.post("/v1/jobs", content=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
    assert all(fault["location"] == "body" for fault in answer.json()["errors"])
    assert "secret" not in answer.text
    with sqlite_database.reading() as session:
        assert jobs.list_jobs(session) == []
