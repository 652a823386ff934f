"""A service with something at every address, a basin and a version of it in the shadow."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.database.engine import Database
from testing.databases import PostgreSQL, copy_into
from tests.app.conftest import client, sqlite, sqlite_client, sqlite_database
from tests.e2e.conftest import worked_file
from tests.extensions.shadow.store import Filled, fill_with_shadow
from tests.freshet.conftest import empty, freshet
from tests.operations.conftest import _one_thread, country, live_file, trained_file

__all__ = [
    "_one_thread",
    "client",
    "country",
    "empty",
    "freshet",
    "live_file",
    "sqlite",
    "sqlite_client",
    "sqlite_database",
    "trained_file",
    "worked_file",
]


@pytest.fixture(scope="module")
def filled(worked_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A SQLite file, to be read or copied, and what it holds."""
    return fill_with_shadow(Path(shutil.copy(worked_file, tmp_path_factory.mktemp("shadow") / "freshet.sqlite")))


@pytest.fixture
def on_postgresql(filled: Filled, postgresql: PostgreSQL) -> Iterator[Database]:
    """A copy of it on PostgreSQL."""
    url = postgresql.migrated()
    copy_into(filled.file, url)
    database = Database(url)
    yield database
    database.close()
    postgresql.clean()
