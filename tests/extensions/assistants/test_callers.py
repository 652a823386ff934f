"""Assistants that share a server of tools have each its own limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from extensions.assistants.server import http_app
from records.database.engine import Database
from runtime.settings import Settings
from tests.app.conftest import bearer, listening, within_a_minute

__all__ = ["within_a_minute"]

FIND = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find_basins", "arguments": {}}}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@contextmanager
def tools(settings: Settings, api: str, key: dict[str, str]) -> Iterator[Any]:
    """Give a function that calls a tool from an address."""
    app = http_app(settings, api)
    with TestClient(app, base_url="http://localhost", headers=HEADERS | key):

        def call(address: str, **headers: str) -> Any:
            caller = TestClient(app, base_url="http://localhost", headers=HEADERS | key, client=(address, 1))
            return caller.post("/mcp", json=FIND, headers=headers)

        yield call


@pytest.mark.usefixtures("within_a_minute")
def test_each_caller_has_limits_of_its_own(migrated_sqlite: Path, tmp_path: Path) -> None:
    file = tmp_path / "freshet.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    database = Database(f"sqlite:///{file}")
    key = bearer(database)
    database.close()
    limits: dict[str, Any] = {"trusted_proxies": "127.0.0.1", "requests_per_minute": 3}
    api = Settings(data=tmp_path, database_url=database.url, broker_url="memory://", **limits)
    with listening(api, log_level="warning", proxy_headers=True, forwarded_allow_ips=["127.0.0.1"]) as port:
        settings, address = Settings(data=tmp_path, requests_per_minute=2), f"http://127.0.0.1:{port}"
        with tools(settings, address, key) as call:
            for caller in ("10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1"):
                for _ in range(2):
                    answer = call(caller).json()
                    assert not answer["result"]["isError"], answer
                refused = call(caller)
                assert (refused.status_code, refused.json()["type"]) == (429, "/problems/too-many-requests")
                assert int(refused.headers["Retry-After"]) > 0
            assert call("2001:db8::2").status_code == 429  # of the same network as one before
            twice = TestClient(http_app(settings, address), base_url="http://localhost")
            sent = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]
            assert twice.post("/mcp", json=FIND, headers=sent).json()["type"] == "/problems/repeated-header"
