"""The API as a process of its own, over the small country with its version, a run, scores and jobs that have ended."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from extensions.archive.archive_runs import RunSelection, archive_runs
from extensions.archive.forecast_archive import STORE
from records.database.engine import Database
from runtime.clock import Clock
from testing import browser as browsers
from testing.api_process import served
from testing.databases import copy_into
from testing.filled_store import FILLED_UNTIL, FilledStore, fill, work
from testing.work import work_of
from tests.operations.conftest import FILE, country, trained_file
from tests.shared_folders import filled_once

__all__ = ["country", "trained_file"]


@dataclass(frozen=True, slots=True)
class Api:
    """A running API: its address, its process, what it holds."""

    address: str
    process: int
    stored: FilledStore


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of a module's tests: to start it takes a second."""
    with browsers.started() as started:
        yield started


@pytest.fixture(scope="session")
def worked_file(trained_file: Path) -> Path:
    """The country's SQLite file with a forecast run, an evaluation and a comparison, to be copied."""

    def forecast(folder: Path) -> None:
        work(Path(shutil.copy(trained_file, folder / FILE)))

    return filled_once(trained_file.parent / "worked", forecast) / FILE


@pytest.fixture
def api(database_url: str, worked_file: Path, tmp_path: Path) -> Iterator[Api]:
    """The API on either database."""
    if database_url.startswith("sqlite"):
        shutil.copy(worked_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_into(worked_file, database_url)
    with _started(database_url, tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def reading_api(worked_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The API on SQLite, started once, for tests that read, or write only what no other test reads."""
    folder = tmp_path_factory.mktemp("reading")
    file = shutil.copy(worked_file, folder / "freshet.sqlite")
    with _started(f"sqlite:///{file}", folder) as running:
        yield running


@contextmanager
def _started(database_url: str, folder: Path) -> Iterator[Api]:
    stored = fill(database_url)
    database = Database(database_url)
    archive_runs(work_of(database, Clock(FILLED_UNTIL)), folder / "archive" / STORE, RunSelection())
    database.close()
    with served(database_url, folder) as (address, process):
        yield Api(address, process, stored)
