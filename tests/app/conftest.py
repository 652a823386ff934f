"""A service over a fresh database, and runs to read from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.main import create_app
from records.engine import Database
from records.settings import Settings
from tests.records.factories import NOW


@contextmanager
def serving(url: str, at: datetime = NOW) -> Iterator[TestClient]:
    """Start the service on a database, at the factories' time if no other is given, and stop it."""
    with TestClient(create_app(Settings(database_url=url, as_of=at)), raise_server_exceptions=False) as client:
        yield client


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
