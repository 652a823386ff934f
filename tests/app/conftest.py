"""A service over a fresh database, and runs to read from it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.dependencies import models as fastapi_models
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from app.main import create_app
from records.access import keys
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import NOW

PATIENCE = 30.0  # seconds
ENOUGH_SECONDS = 15  # for a test that counts requests
NO_BROKER = "redis://127.0.0.1:1/0"
"""Nobody listens there."""


@pytest.fixture(autouse=True, scope="module")
def _no_app_stays() -> Iterator[None]:
    """Let go of a module's services. What FastAPI remembers of functions holds on to a thousand of them otherwise, and
    they take gigabytes."""
    yield
    for remembered in vars(fastapi_models).values():
        if isinstance(remembered, _lru_cache_wrapper):
            remembered.cache_clear()


@pytest.fixture
def within_a_minute() -> None:
    """Begin where the clock's minute, by which limits count, does not soon turn to the next."""
    left = 60 - time.time() % 60
    if left < ENOUGH_SECONDS:
        time.sleep(left)


@contextmanager
def serving(url: str, at: datetime | None = NOW, **chosen: Any) -> Iterator[TestClient]:
    """Start the service on a database, at the factories' time if no other is given, and stop it.

    Its broker is this process's memory, where no worker looks.
    """
    settings = Settings(database_url=url, as_of=at, **({"broker_url": "memory://"} | chosen))
    with TestClient(create_app(settings), base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


@contextmanager
def listening(settings: Settings, **options: Any) -> Iterator[int]:
    """Let the real server, with options of uvicorn, listen on every address of this machine; give its port."""
    with listening_with(create_app(settings), **options) as port:
        yield port


@contextmanager
def listening_with(app: ASGIApp, **options: Any) -> Iterator[int]:
    """Let an application listen on every address of this machine; give its port."""
    server = uvicorn.Server(uvicorn.Config(app, **options))
    with socket.create_server(("0.0.0.0", 0)) as open_socket:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [open_socket]})
        thread.start()
        try:
            until = time.monotonic() + PATIENCE
            while not server.started:
                assert time.monotonic() < until
                time.sleep(0.01)
            yield open_socket.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(PATIENCE)


def bearer(database: Database, scope: keys.Scope = "operator", name: str = "river office") -> dict[str, str]:
    """Make a key and return the header that sends it."""
    with database.transaction() as session:
        _, token = keys.make(session, name, scope, None, datetime.now(UTC))
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """The service on either database, which `database` fills."""
    with serving(database_url) as started:
        yield started


@pytest.fixture
def sqlite(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The URL of a migrated SQLite database, for what does not depend on the database."""
    file = tmp_path / "service.sqlite"
    file.write_bytes(migrated_sqlite.read_bytes())
    return f"sqlite:///{file}"


@pytest.fixture
def sqlite_client(sqlite: str) -> Iterator[TestClient]:
    """The service on SQLite."""
    with serving(sqlite) as started:
        yield started


@pytest.fixture
def sqlite_database(sqlite: str) -> Iterator[Database]:
    """The database of `sqlite_client`."""
    opened = Database(sqlite)
    yield opened
    opened.close()
