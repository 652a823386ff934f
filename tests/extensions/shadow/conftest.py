"""A service with something at every address, a basin and a version of it in the shadow."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from records.database.engine import Database
from testing.databases import copy_into
from tests.app.conftest import client
from tests.e2e.conftest import worked_file
from tests.extensions.shadow.store import Filled, fill_with_shadow
from tests.freshet.conftest import empty, freshet
from tests.operations.conftest import _one_thread, country, live_file, trained_file

__all__ = ["_one_thread", "client", "country", "empty", "freshet", "live_file", "trained_file", "worked_file"]


@pytest.fixture(scope="module")
def filled(worked_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A SQLite file, to be read or copied, and what it holds."""
    return fill_with_shadow(Path(shutil.copy(worked_file, tmp_path_factory.mktemp("shadow") / "freshet.sqlite")))


@pytest.fixture
def on_either(filled: Filled, database_url: str) -> Iterator[Database]:
    """A copy of it on either database."""
    if database_url.startswith("sqlite"):
        shutil.copy(filled.file, database_url.removeprefix("sqlite:///"))
    else:
        copy_into(filled.file, database_url)
    database = Database(database_url)
    yield database
    database.close()
