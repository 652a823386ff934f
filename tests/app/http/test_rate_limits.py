"""Rate limits of addresses and keys: in headers, shared by the API's processes, and held without the broker."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.http.limits import rate_limits
from app.http.limits.addresses import counted_as
from records.database.engine import Database
from runtime.settings import Settings
from tests.app.conftest import NO_BROKER, bearer, serving
from workers.queue.broker import start_embedded

pytestmark = pytest.mark.usefixtures("within_a_minute")

FORECAST = {"kind": "forecast", "params": {}}


@pytest.fixture
def valkey(sqlite: str, tmp_path: Path) -> Iterator[Any]:
    """A real Valkey in a data folder."""
    broker = start_embedded(Settings(data=tmp_path, database_url=sqlite))
    yield broker
    broker.terminate()
    broker.wait()


def remaining(header: str, name: str) -> int:
    found = re.search(rf'"{name}";r=(\d+);t=\d+', header)
    assert found
    return int(found[1])


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


@pytest.mark.usefixtures("valkey")
def test_two_processes_share_the_counts(
    sqlite: str, sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "PATIENCE_SECONDS", 30.0)  # on a busy machine an API would count by itself
    shared: dict[str, Any] = {"data": tmp_path, "broker_url": None, "requests_per_minute": 6, "writes_per_minute": 2}
    header = bearer(sqlite_database)
    with serving(sqlite, **shared) as first, serving(sqlite, **shared) as second:
        answers = [client.get("/v1/basins") for client in (first, second)]
        assert [remaining(answer.headers["RateLimit"], "requests") for answer in answers] == [5, 4]
        writes = [client.post("/v1/jobs", json=FORECAST, headers=header) for client in (first, second, first)]
        assert [answer.status_code for answer in writes] == [202, 202, 429]
        assert remaining(writes[1].headers["RateLimit"], "writes") == 0
        last = second.get("/v1/basins")
        assert remaining(last.headers["RateLimit"], "requests") == 0
        for client in (first, second):
            assert refusal(client.get("/v1/basins")) == (429, "/problems/too-many-requests")


def test_a_client_over_its_limit_learns_when_to_retry(sqlite: str) -> None:
    with serving(sqlite, requests_per_minute=2) as client:
        first, second, refused = (client.get("/v1/basins") for _ in range(3))
        assert (first.status_code, second.status_code) == (200, 200)
        assert first.headers["RateLimit-Policy"] == '"requests";q=2;w=60'
        assert refusal(refused) == (429, "/problems/too-many-requests")
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert remaining(refused.headers["RateLimit"], "requests") == 0
        assert refused.headers["X-Content-Type-Options"] == "nosniff"
        for path in ("/health/live", "/health/ready"):
            assert client.get(path).status_code == 200
        assert client.get("/docs").status_code == 429


def test_a_key_that_writes_too_often_does_not_stop_another(sqlite: str, sqlite_database: Database) -> None:
    with serving(sqlite, writes_per_minute=1) as client:
        busy, quiet = bearer(sqlite_database), bearer(sqlite_database)
        assert client.post("/v1/jobs", json=FORECAST, headers=busy).status_code == 202
        assert client.post("/v1/jobs", json=FORECAST, headers=busy).status_code == 429
        assert client.post("/v1/jobs", json=FORECAST, headers=quiet).status_code == 202
        assert client.get("/v1/jobs", headers=busy).status_code == 200  # a read is not a write


def test_wrong_keys_are_limited_and_never_lock_out_a_right_one(sqlite: str, sqlite_database: Database) -> None:
    with serving(sqlite, failed_keys_per_minute=3) as client:
        wrong, good = {"Authorization": "Bearer guess"}, bearer(sqlite_database)
        near = {"Authorization": good["Authorization"][:-1] + ("A" if good["Authorization"][-1] != "A" else "B")}
        assert [client.get("/v1/jobs", headers=wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
        refused = client.get("/v1/jobs", headers=near)  # of a key that there is: counted with the others
        assert refusal(refused) == (429, "/problems/too-many-requests")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert client.get("/v1/jobs", headers=good).status_code == 200
        assert client.post("/v1/jobs", json=FORECAST, headers=good).status_code == 202
        assert client.get("/v1/jobs", headers=wrong).status_code == 429  # a right key does not reset the count
        assert client.get("/v1/basins").status_code == 200


def test_right_keys_are_not_counted_as_failures(sqlite: str, sqlite_database: Database) -> None:
    with serving(sqlite, failed_keys_per_minute=1, read_needs_key=True) as client:
        good = bearer(sqlite_database)
        assert {client.get("/v1/basins", headers=good).status_code for _ in range(5)} == {200}
        assert client.get("/v1/basins").status_code == 401  # a missing key is not a guess
        assert client.get("/v1/basins", headers={"Authorization": "Bearer guess"}).status_code == 401
        assert client.get("/v1/basins", headers={"Authorization": "Bearer guess"}).status_code == 429
        assert client.get("/v1/basins", headers=good).status_code == 200


def test_without_the_broker_each_process_counts_by_itself(sqlite: str) -> None:
    with serving(sqlite, broker_url=NO_BROKER, requests_per_minute=3) as client:
        answers = [client.get("/v1/basins") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]


def test_a_broker_that_goes_away_stops_no_answer(sqlite: str, tmp_path: Path, valkey: Any) -> None:
    with serving(sqlite, data=tmp_path, broker_url=None) as client:
        assert client.get("/v1/basins").status_code == 200
        valkey.kill()
        valkey.wait()
        assert client.get("/v1/basins").status_code == 200


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_network_counts_as_one(address: str, counted: str) -> None:
    assert counted_as(address) == counted
