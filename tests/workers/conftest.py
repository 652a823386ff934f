"""Jobs on a country that was ingested before, run in this process, or by a broker, a scheduler and workers."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from records.database.engine import Database
from runtime.settings import Settings
from testing.country import configuration
from testing.databases import PostgreSQL, copy_into
from testing.jobs.in_process import InProcessJobs
from testing.jobs.processes import LEASE, PATIENCE, Shop
from testing.parts.forked_parts import ForkedPart
from tests.operations.conftest import country, live_file, long_trained_file, trained_file

__all__ = ["country", "live_file", "long_trained_file", "trained_file"]


@pytest.fixture
def country_jobs(trained_file: Path, tmp_path: Path) -> Iterator[InProcessJobs]:
    """Jobs on the country and its version, run in this process."""
    yield from _jobs_on(trained_file, tmp_path)


@pytest.fixture
def live_jobs(live_file: Path, tmp_path: Path) -> Iterator[InProcessJobs]:
    """Jobs on the country whose weather comes by a feed, run in this process."""
    yield from _jobs_on(live_file, tmp_path)


@pytest.fixture
def empty_jobs(migrated_sqlite: Path, tmp_path: Path) -> Iterator[InProcessJobs]:
    """Jobs on an empty database, run in this process."""
    yield from _jobs_on(migrated_sqlite, tmp_path)


def _jobs_on(file: Path, folder: Path) -> Iterator[InProcessJobs]:
    shutil.copy(file, folder / "freshet.sqlite")
    jobs = InProcessJobs(Settings.load(data=folder))
    yield jobs
    jobs.close()


@pytest.fixture
def shop(database_url: str, trained_file: Path, tmp_path: Path) -> Iterator[Shop]:
    """A shop on either database, with the country and its version, and a scheduler."""
    if database_url.startswith("sqlite"):
        shutil.copy(trained_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_into(trained_file, database_url)
    yield from _opened(Settings.load(data=tmp_path, database_url=database_url, lease_seconds=LEASE))


def _opened(settings: Settings) -> Iterator[Shop]:
    with ExitStack() as stack:
        shop = Shop(settings, stack)
        stack.callback(shop.close)
        shop.start("scheduler")
        yield shop


@pytest.fixture
def sqlite_shop(trained_file: Path, tmp_path: Path) -> Iterator[Shop]:
    """A shop on SQLite alone, for what does not depend on the database."""
    yield from opened_with(trained_file, tmp_path)


@pytest.fixture
def empty_shop(tmp_path: Path) -> Iterator[Shop]:
    """A shop on an empty SQLite database."""
    yield from opened_empty(tmp_path)


@pytest.fixture
def patient_shop(tmp_path: Path) -> Iterator[Shop]:
    """A shop on an empty SQLite database, whose leases outlast the test."""
    yield from opened_empty(tmp_path, lease=10 * PATIENCE)


@pytest.fixture(scope="module")
def harmful_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with a harmful worker, for all tests that leave both alive."""
    for shop in opened_empty(tmp_path_factory.mktemp("harmful")):
        harmful_worker(shop)
        yield shop


def opened_with(file: Path, folder: Path) -> Iterator[Shop]:
    """Open a shop on a copy of a SQLite file."""
    shutil.copy(file, folder / "freshet.sqlite")
    yield from _opened(Settings.load(data=folder, lease_seconds=LEASE))


def opened_empty(folder: Path, lease: float = LEASE) -> Iterator[Shop]:
    """Open a shop on an empty SQLite database."""
    settings = Settings.load(data=folder, lease_seconds=lease)
    database = Database(settings.database_url)
    database.migrate()
    database.close()
    yield from _opened(settings)


@pytest.fixture
def postgresql_shop(postgresql: PostgreSQL, trained_file: Path, tmp_path: Path) -> Iterator[Shop]:
    """A shop on PostgreSQL alone, whose server may be harmed."""
    url = postgresql.migrated()
    copy_into(trained_file, url)
    yield from _opened(Settings.load(data=tmp_path, database_url=url, lease_seconds=LEASE))
    postgresql.clean()


def harmful_worker(shop: Shop, *queues: str) -> ForkedPart:
    """Start a worker of some queues, or of all, whose jobs do harm (`tests.workers.harmful`)."""
    return shop.start(*queues, module="tests.workers.harmful")


def training(**changes: object) -> dict[str, Any]:
    """Return the params of a training of some seconds."""
    settings = {"schedule": {"kind": "cosine", "steps": 400}, "validate_every": 200, "checkpoint_every": 10}
    config = configuration(**{**settings, "seed": 21, **changes})
    return {"config": config.model_dump(mode="json")}
